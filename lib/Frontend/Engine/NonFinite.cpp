#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Data/Floats.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/RunNode.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Generic.h"
#include "lib/NonFinite/NonFinite.h"
#include "sprig/debug.h"
#include <utility>

namespace sprig {

using namespace frontend;
using nonfinite::Counts;
using nonfinite::Kind;
using nonfinite::Origin;
using nonfinite::Origins;

namespace {

thread_local bool isDetecting = false;

/// Guards what storages know of their numbers: several tasks may look at a value that none of them has made.
std::mutex &originsMutex() {
  static auto &mutex = *new std::mutex;
  return mutex;
}

template <typename F> void eachFloat(const TensorType &type, const void *elements, F f) {
  static_assert(int(data::DType::bf16) == int(DType::bf16));
  data::eachFloat(data::DType(type.dtype), elements, type.elements(), f);
}

void setOne(const TensorType &type, void *data, int64_t i) {
  switch (type.dtype) {
  case DType::f64: static_cast<double *>(data)[i] = 1; return;
  case DType::f32: static_cast<float *>(data)[i] = 1; return;
  case DType::f16: static_cast<uint16_t *>(data)[i] = 0x3c00; return;
  case DType::bf16: static_cast<uint16_t *>(data)[i] = 0x3f80; return;
  default: return;
  }
}

Counts countIn(const TensorType &type, const void *data) {
  Counts counts;
  eachFloat(type, data, [&](int64_t, double element) { counts.add(element); });
  return counts;
}
Counts countIn(const Value &value) { return countIn(value.type, value.storage->data); }

std::shared_ptr<const Origins> knownOrigins(const Storage &storage) {
  std::lock_guard lock(originsMutex());
  return storage.origins;
}
void setOrigins(Storage &storage, std::shared_ptr<const Origins> origins) {
  std::lock_guard lock(originsMutex());
  storage.origins = std::move(origins);
}

/// The origins of a value that is there; those of one that no watched operation has made are in the program.
Origins originsIn(const Value &value, const std::string &name) {
  if (auto known = knownOrigins(*value.storage)) return *known;
  Origins origins;
  bool isState = !name.empty();
  origins.complete(countIn(value), isState ? Origin::Source::state : Origin::Source::given,
                   isState ? name : std::string(value.constant ? "a constant" : "a tensor of the program"),
                   describe(value.type));
  setOrigins(*value.storage, std::make_shared<Origins>(origins));
  return origins;
}

/// An operation that has run on a device, once more: with other operands.
class Rerun {
public:
  Rerun(const GraphNode &description, std::span<Value *const> operands, std::span<Value *const> results,
        DeviceId device)
      : description(description), operands(operands), results(results), device(device) {}

  std::optional<std::vector<Counts>> without(std::span<const nonfinite::Event::Held> some) const {
    std::vector<std::shared_ptr<Storage>> held;
    std::vector<ArrayRef> in, out;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Value &value = *operands[i];
      in.push_back({value.storage->data, &value.type});
      for (auto [operand, kind] : some)
        if (operand == i) replace(in.back(), kind, held);
    }
    for (const Value *value : results) {
      held.push_back(Storage::allocate(value->type.bytes()));
      out.push_back({held.back()->data, &value->type});
    }
    try {
      computeNode(description, in, out, device);
    } catch (const std::exception &) {
      return std::nullopt;
    }
    std::vector<Counts> counts;
    for (const ArrayRef &result : out) counts.push_back(countIn(*result.type, result.data));
    return counts;
  }

private:
  static void replace(ArrayRef &array, Kind kind, std::vector<std::shared_ptr<Storage>> &held) {
    held.push_back(Storage::allocate(array.type->bytes()));
    void *copy = held.back()->data;
    std::memcpy(copy, array.data, size_t(array.type->bytes()));
    eachFloat(*array.type, array.data, [&](int64_t i, double element) {
      if (nonfinite::isOf(kind, element)) setOne(*array.type, copy, i);
    });
    array.data = copy;
  }

  const GraphNode &description;
  std::span<Value *const> operands, results;
  DeviceId device;
};

std::string describeOperation(const GraphNode &node) {
  if (!node.gradientOf) return placeText(node.source, node.op->text, node.layer);
  return placeText(node.source, *node.gradientOf, node.layer) + ": " + placeText({}, node.op->text, nullptr) +
         " in its gradient";
}

/// An operation with regions, by what is in them.
std::vector<Origins> originsInRegions(const GraphNode &description, std::span<Value *const> operands,
                                      std::span<Value *const> results, std::span<const Origins> held) {
  std::vector<TensorType> in, out;
  std::vector<const void *> data;
  for (const Value *operand : operands) {
    in.push_back(operand->type);
    data.push_back(operand->storage->data);
  }
  for (const Value *result : results) out.push_back(result->type);
  return originsInside(graphOf(description, in, out), data, held, describeOperation);
}

} // namespace

DetectNonFinite::DetectNonFinite() : outer(std::exchange(isDetecting, true)) {}
DetectNonFinite::~DetectNonFinite() { isDetecting = outer; }

bool frontend::detectsNonFinite() { return isDetecting; }

std::unique_ptr<const NodeWatch> frontend::watchFor(std::span<const Tensor> operands) {
  if (!isDetecting) [[likely]]
    return nullptr;
  auto watch = std::make_unique<NodeWatch>();
  for (const Tensor &operand : operands) {
    const Parameter::Cell *owner = operand.raw()->owner;
    watch->states.push_back(owner ? "parameter '" + owner->name + "'" : "");
  }
  return watch;
}

void frontend::noteOrigins(const GraphNode &description, const NodeWatch &watch, std::span<Value *const> operands,
                           std::span<Value *const> results, std::optional<DeviceId> device) {
  static const auto finite = std::make_shared<const Origins>();
  std::vector<Counts> counts;
  bool any = false;
  for (const Value *result : results) {
    if (result->failure || !result->storage) return;
    counts.push_back(countIn(*result));
    any |= counts.back().any();
  }
  if (!any) {
    for (const Value *result : results) setOrigins(*result->storage, finite);
    return;
  }
  if (description.constant) {
    Origins origins;
    origins.complete(counts[0], Origin::Source::given, "a constant", describe(results[0]->type));
    return setOrigins(*results[0]->storage, std::make_shared<Origins>(origins));
  }
  std::vector<Origins> held;
  std::vector<nonfinite::Event::Operand> given;
  held.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    held.push_back(originsIn(*operands[i], watch.states[i]));
    given.push_back({countIn(*operands[i]), &held.back()});
  }
  nonfinite::Event event{given, counts, nullptr, [&] { return describeOperation(description); },
                         [&](size_t result) { return describe(results[result]->type); }};
  std::optional<Rerun> again;
  if (device) {
    again.emplace(description, operands, results, *device);
    event.without = [&](std::span<const nonfinite::Event::Held> some) { return again->without(some); };
  } else {
    event.what = [&] { return describeOperation(description) + ": another rank"; };
  }
  std::vector<Origins> origins = nonfinite::originsOf(event);
  if (!description.regions.empty()) {
    std::vector<Origins> inside = originsInRegions(description, operands, results, held);
    for (size_t i = 0; i < inside.size(); ++i)
      for (Kind kind : nonfinite::kKinds)
        if (origins[i][kind] && inside[i][kind]) origins[i][kind] = inside[i][kind];
  }
  for (size_t i = 0; i < results.size(); ++i) setOrigins(*results[i]->storage, std::make_shared<Origins>(origins[i]));
}

void frontend::copyOrigins(const Storage &from, Storage &to) {
  std::lock_guard lock(originsMutex());
  to.origins = from.origins;
}

void frontend::requireFinite(const Tensor &value, CheckedAs how, const std::function<std::string()> &what, Source at) {
  if (!isDetecting || Trace::current() || !isFloat(value.raw()->type.dtype)) [[likely]]
    return;
  waitFor(value, "DetectNonFinite", at);
  const Parameter::Cell *owner = value.raw()->owner;
  Origins origins = originsIn(*value.raw(), owner ? "parameter '" + owner->name + "'" : "");
  for (Kind kind : nonfinite::kKinds) {
    const auto &origin = origins[kind];
    if (!origin || (how == CheckedAs::read && kind != Kind::nan)) continue;
    if (how != CheckedAs::derived && origin->source == Origin::Source::given) continue;
    runtimeError(nonfinite::textOf(*origin) + "; found in " + what() +
                 (at.line ? " (" + std::string(at.file) + ":" + std::to_string(at.line) + ")" : ""));
  }
}

} // namespace sprig
