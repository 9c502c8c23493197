// compile(): which variant a call runs, and why one is recorded.
#include "sprig/function.h"
#include "lib/Frontend/Engine/BucketChoices.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/GrowingCall.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/TraceCheck.h"
#include "lib/Frontend/Engine/Variant.h"
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace sprig {

using namespace frontend;

namespace {
std::atomic<bool> &globalSwitch() {
  static std::atomic<bool> on = [] {
    const char *text = std::getenv("SPRIG_COMPILE");
    return !text || std::strcmp(text, "0") != 0;
  }();
  return on;
}
std::atomic<bool> &checkSwitch() {
  static std::atomic<bool> on = [] {
    const char *text = std::getenv("SPRIG_CHECK_TRACES");
    return text && *text && std::strcmp(text, "0") != 0;
  }();
  return on;
}

std::string textOfItem(const HostItem &item) {
  switch (item.kind) {
  case HostItem::Kind::boolean: return item.bits ? "true" : "false";
  case HostItem::Kind::integer: return std::to_string(int64_t(item.bits));
  case HostItem::Kind::natural:
  case HostItem::Kind::length: return std::to_string(item.bits);
  case HostItem::Kind::real: return realText(std::bit_cast<double>(item.bits));
  case HostItem::Kind::text: return "'" + item.words + "'";
  case HostItem::Kind::presence: return item.bits ? "there" : "left out";
  }
  return "?";
}

std::string differenceOf(const HostItem &now, const HostItem &was) {
  static constexpr const char *kWhat[] = {"the number in", "the number in", "the number in",      "the number in",
                                          "the text in",   "a length in",   "what is optional in"};
  auto place = [](const HostItem &item) {
    return std::string(kWhat[size_t(item.kind)]) + " argument " + std::to_string(item.argument);
  };
  auto isAbsent = [](const HostItem &item) { return item.kind == HostItem::Kind::presence && !item.bits; };
  if (now.kind != was.kind && (isAbsent(now) || isAbsent(was)))
    return "argument " + std::to_string(std::min(now.argument, was.argument)) +
           (isAbsent(now) ? " is left out, recorded was one that is there" : " is there, recorded was left out");
  std::string text = place(now) + " is " + textOfItem(now) + ", recorded was ";
  if (place(now) != place(was)) return text + place(was) + ", " + textOfItem(was);
  if (textOfItem(now) != textOfItem(was)) return text + textOfItem(was);
  return place(now) + ", " + textOfItem(now) + ", has another type";
}

/// What a call has that the last variant has not.
std::string differenceOf(const Variant &last, const FlatValues &given, std::span<const uint32_t> ends) {
  for (size_t i = 0; i < std::min(given.host.size(), last.host.size()); ++i)
    if (!(given.host[i] == last.host[i])) return differenceOf(given.host[i], last.host[i]);
  if (given.host.size() != last.host.size()) { // a tensor that holds nothing is an item, one that does is none
    bool isLeftOut = given.host.size() > last.host.size();
    const HostItem &item = (isLeftOut ? given.host : last.host)[std::min(given.host.size(), last.host.size())];
    return "argument " + std::to_string(item.argument) +
           (isLeftOut ? " is left out, recorded was one that is there" : " is there, recorded was left out");
  }
  if (last.ranks && !last.ranks->isHere())
    return "it is called by another rank, recorded was " + last.ranks->text() +
           (last.ranks->isClosed() ? ", whose group has ended" : "");
  const std::vector<Tensor> &inputs = given.tensors;
  if (last.inputs.size() != inputs.size())
    return std::to_string(inputs.size()) + " tensors, recorded were " + std::to_string(last.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].type() == last.inputs[i])) {
      auto argument = std::upper_bound(ends.begin(), ends.end(), uint32_t(i)) - ends.begin();
      return "argument " + std::to_string(argument) + " is " + describe(inputs[i].type()) + ", recorded was " +
             describe(last.inputs[i]);
    }
  for (const Observation &each : last.observed)
    if (!each.holds())
      return each.owner + " is " + each.setting->text(each.source.get()) + ", recorded was " + each.text;
  if (std::string difference = last.placeDifference(inputs); !difference.empty()) return difference;
  if (std::string difference = last.gradientDifference(inputs); !difference.empty()) return difference;
  return "it has been dropped since";
}
} // namespace

void setCompilation(bool on) { globalSwitch() = on; }
bool compilationIsOn() { return globalSwitch() && !detectsNonFinite(); }
void checkTraces(bool always) { checkSwitch() = always; }
bool tracesAreChecked() { return checkSwitch(); }

using Variants = std::list<std::shared_ptr<Variant>>; // the one that was used last first

/// Who was not used for so many calls makes room for another kind of arguments.
constexpr uint64_t kLately = 1000;

struct FunctionCore::Impl {
  FunctionOptions options;
  Source source;
  std::atomic<bool> on = true, advised = false;

  /// The variants of one rank, and the lock that its calls are under. A call may wait for collectives, and so for the
  /// other ranks: none of them may need a lock that this one holds.
  struct Own {
    std::mutex mutex;
    Variants variants;
    uint64_t calls = 0;
    BucketChoices choices;
  };
  mutable std::mutex mutex;    // guards what follows; nobody waits for a rank under it
  std::map<DeviceId, Own> own; // by a rank's device; of who is no rank by the first one
  std::vector<std::string> reasons;

  Own &ownOf(DeviceId rank) {
    std::lock_guard lock(mutex);
    return own[rank];
  }

  std::string where() const {
    std::string name = options.name;
    if (source.line) name += " (" + std::string(source.file) + ":" + std::to_string(source.line) + ")";
    return name;
  }

  void note(const std::string &reason) {
    std::lock_guard lock(mutex);
    reasons.push_back(reason);
  }

  void tell(const std::string &line) const {
    if (options.report)
      options.report(line);
    else
      std::fprintf(stderr, "sprig: %s\n", line.c_str());
  }
  void report(const std::string &reason) const { tell(where() + " is compiled again: " + reason); }

  /// Once, where there are more kinds of arguments than are kept.
  void advise(const std::string &others) {
    if (advised.exchange(true)) return;
    tell(where() + ": " + std::to_string(options.maxVariants) +
         " kinds of arguments are kept compiled (maxVariants), and " + others +
         ": pad what differs to a few sizes, let an axis grow (FunctionOptions::growing), keep what was computed in a "
         "state of fixed size (a KV cache), or raise maxVariants");
  }

  /// Whether calls of another kind run as written: as many kinds as are kept have been used lately. With other ranks
  /// they cannot: what all do together is in the order of their programs.
  bool isFull(const Own &own) const {
    if (own.variants.empty() || int(own.variants.size()) < options.maxVariants) return false;
    return own.calls - own.variants.back()->lastCall < kLately &&
           std::none_of(
               own.variants.begin(), own.variants.end(),
               [](const auto &each) { return each->ranks || each->division; });
  }

  /// Within a function that is being recorded it is a part of that.
  bool runsAsWritten() const { return Trace::current() || (!OperationScope::isOn() && (!compilationIsOn() || !on)); }

  /// Whether another kind of arguments may run as it is written.
  enum class Else : uint8_t { record, runAsWritten };
  /// The variant that a call runs; recorded where there is none, or null. `growing`: the arguments are padded for it.
  std::shared_ptr<Variant> variantFor(Own &own, Else otherwise, const FlatValues &given, std::span<const uint32_t> ends,
                                      const Body &body, std::shared_ptr<const void> &structure,
                                      const GrowingCall *growing = nullptr);
  /// A call whose arguments have a growing axis.
  std::vector<Tensor> callGrowing(const FlatValues &given, std::span<const uint32_t> ends, const Body &body,
                                  std::shared_ptr<const void> &structure, const GrowingCall &call);
  /// Records one for these arguments, which goes to the front.
  std::shared_ptr<Variant> addVariant(Variants &variants, const FlatValues &given, const Body &body,
                                      std::shared_ptr<const void> &structure, const GrowingCall *growing);

  /// Modules have been replaced since the front variant was recorded: it stays, or a new one takes its place.
  void refresh(Variants &variants, const Body &body, std::span<const Tensor> inputs,
               std::shared_ptr<const void> &structure) {
    uint64_t now = replacements();
    std::shared_ptr<Variant> again = recordAgain(*variants.front(), body, inputs, where());
    if (auto change = changeBetween(*variants.front(), *again)) {
      report(*change);
      note(*change);
      again->structure = structure;
      variants.front() = again;
    }
    variants.front()->replacements = now;
  }
};

FunctionCore::FunctionCore(FunctionOptions options, Source at) : impl(std::make_unique<Impl>()) {
  if (options.bucketBytes < 0)
    frontend::fail(at, options.name,
                   "bucketBytes is " + std::to_string(options.bucketBytes) + ", expected 0 (chosen) or more");
  constexpr int kMostProgramLanes = 64;
  if (options.lanes < 0 || options.lanes > kMostProgramLanes)
    frontend::fail(at, options.name,
                   "lanes are " + std::to_string(options.lanes) + ", expected 0 (as suit the device) to " +
                       std::to_string(kMostProgramLanes));
  impl->options = std::move(options);
  impl->source = at;
}
FunctionCore::~FunctionCore() = default;

void FunctionCore::enable(bool on) { impl->on = on; }
bool FunctionCore::enabled() const { return impl->on; }
std::vector<std::string> FunctionCore::recordings() const {
  std::lock_guard lock(impl->mutex);
  return impl->reasons;
}

// The caller holds the lock of the rank's variants.
std::shared_ptr<Variant> FunctionCore::Impl::variantFor(Own &own, Else otherwise, const FlatValues &given,
                                                        std::span<const uint32_t> ends, const Body &body,
                                                        std::shared_ptr<const void> &structure,
                                                        const GrowingCall *growing) {
  Variants &variants = own.variants;
  const std::vector<Tensor> &inputs = given.tensors;
  ++own.calls;
  // Modules have been replaced since: what was recorded at several lengths is recorded at them again.
  if (growing) std::erase_if(variants, [](const auto &each) { return each->replacements != replacements(); });
  for (auto it = variants.begin(); it != variants.end(); ++it) {
    if (!(*it)->fits(given)) continue;
    if (it != variants.begin()) variants.splice(variants.begin(), variants, it);
    if (variants.front()->replacements != replacements()) [[unlikely]]
      refresh(variants, body, inputs, structure);
    Variant &variant = *variants.front();
    if (!growing && (!variant.isChecked || checkSwitch().load(std::memory_order_relaxed))) [[unlikely]] {
      checkTrace(variant, body, inputs, where());
      variant.isChecked = true;
    }
    structure = variant.structure;
    variant.lastCall = own.calls;
    return variants.front();
  }
  if (otherwise == Else::runAsWritten && isFull(own)) {
    advise("others run as they are written");
    return nullptr;
  }
  const bool isFirst = variants.empty();
  std::string reason = isFirst ? "first call" : growing ? "" : differenceOf(*variants.front(), given, ends);
  if (growing)
    reason += (isFirst ? ", of lengths " : "lengths ") + std::to_string(growing->program.first) + " to " +
              std::to_string(growing->program.last);
  if (!isFirst && options.growing.empty()) report(reason); // new lengths are what it is for
  std::shared_ptr<Variant> variant = addVariant(variants, given, body, structure, growing);
  variant->lastCall = own.calls;
  note(reason);
  return variant;
}

std::shared_ptr<Variant> FunctionCore::Impl::addVariant(Variants &variants, const FlatValues &given, const Body &body,
                                                        std::shared_ptr<const void> &structure,
                                                        const GrowingCall *growing) {
  const std::vector<Tensor> &inputs = given.tensors;
  std::erase_if(variants, [](const auto &variant) { return variant->ranks && variant->ranks->isClosed(); });
  std::shared_ptr<Variant> variant;
  if (growing) {
    variant = Variant::recordGrowing(growing->program, options.growing, inputs, body, options.name, source);
  } else {
    std::vector<TensorType> types;
    for (const Tensor &input : inputs) types.push_back(input.type());
    variant = Variant::record(types, body, options.name, source, inputs);
  }
  variant->setFactors(options.factors);
  variant->programLanes = options.lanes;
  variant->host = given.host;
  variant->structure = structure;
  variants.push_front(variant);
  if (int(variants.size()) > options.maxVariants) {
    variants.pop_back();
    advise("the one not used for longest goes for another");
  }
  return variant;
}

std::vector<Tensor> FunctionCore::Impl::callGrowing(const FlatValues &given, std::span<const uint32_t> ends,
                                                    const Body &body, std::shared_ptr<const void> &structure,
                                                    const GrowingCall &call) {
  FlatValues arguments = given;
  arguments.tensors = padded(call, options, given.tensors, source);
  Own &own = ownOf(deviceOfThisRank().value_or(0));
  std::lock_guard lock(own.mutex);
  std::shared_ptr<Variant> variant = variantFor(own, Else::record, arguments, ends, body, structure, &call);
  return cut(call, *variant, Variant::call(variant, arguments.tensors), source);
}

std::vector<Tensor> FunctionCore::call(const FlatValues &given, std::span<const uint32_t> ends, const Body &body,
                                       std::shared_ptr<const void> &structure) {
  if (impl->runsAsWritten()) return body(given.tensors);
  if (!impl->options.growing.empty()) {
    GrowingCall call = growingCall(impl->options, given.tensors, impl->source);
    if (!call.standsAlone()) return impl->callGrowing(given, ends, body, structure, call);
  }
  Impl::Own &own = impl->ownOf(deviceOfThisRank().value_or(0));
  std::unique_lock lock(own.mutex);
  std::shared_ptr<Variant> variant = impl->variantFor(own, Impl::Else::runAsWritten, given, ends, body, structure);
  if (!variant) {
    lock.unlock(); // the body may call this function
    return body(given.tensors);
  }
  if (variant->division && OperationScope::isOn()) return Variant::callOperations(*variant, given.tensors);
  return Variant::call(variant, given.tensors, own.choices.of(*variant, impl->options.bucketBytes, 1));
}

std::vector<std::vector<Tensor>> FunctionCore::callTogether(std::span<FlatCall> calls) {
  std::vector<std::vector<Tensor>> results;
  if (calls.empty()) return results;
  if (!impl->options.growing.empty())
    frontend::fail(impl->source, impl->options.name, "calls go together where no axis grows");
  if (impl->runsAsWritten()) {
    for (FlatCall &call : calls) {
      results.push_back(call.body(call.arguments.tensors));
      for (Tensor &result : results.back()) result = result.detach(impl->source);
    }
    return results;
  }
  Impl::Own &own = impl->ownOf(deviceOfThisRank().value_or(0));
  std::lock_guard lock(own.mutex);
  FlatCall &first = calls[0];
  std::shared_ptr<Variant> variant =
      impl->variantFor(own, Impl::Else::record, first.arguments, first.ends, first.body, first.structure);
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i > 0 && !variant->fits(calls[i].arguments))
      frontend::fail(impl->source, impl->options.name,
                     "call " + std::to_string(i + 1) + " of " + std::to_string(calls.size()) +
                         " that go together is of another kind than the first: " +
                         differenceOf(*variant, calls[i].arguments, calls[i].ends));
    calls[i].structure = first.structure;
    arguments.insert(arguments.end(), calls[i].arguments.tensors.begin(), calls[i].arguments.tensors.end());
  }
  const auto times = int64_t(calls.size());
  std::vector<Tensor> all =
      Variant::callTogether(variant, arguments, times, own.choices.of(*variant, impl->options.bucketBytes, times));
  const size_t each = all.size() / calls.size();
  for (size_t i = 0; i < calls.size(); ++i)
    results.emplace_back(all.begin() + ptrdiff_t(i * each), all.begin() + ptrdiff_t((i + 1) * each));
  return results;
}

int64_t FunctionCore::bucketBytes() const {
  Impl::Own &own = impl->ownOf(deviceOfThisRank().value_or(0));
  std::lock_guard lock(own.mutex);
  return own.choices.bytes();
}

void frontend::finishAll() {
  flush(/*wake=*/false); // who waits helps
  Engine::drainAll();
  if (Failure failure = Engine::takeFailureOfAny()) throw Error(*failure);
}

void synchronize() {
  requireNotRecording("synchronize", {});
  ProfileSpan span(kWaitKind, [] { return std::string(kQueueWait); });
  finishAll();
}

void synchronize(const Device &device, Source at) {
  requireNotRecording("synchronize", at);
  DeviceId id = openDevice(device, "synchronize", at);
  ProfileSpan span(kWaitKind, [&] { return placeText(at) + kQueueWait; });
  flushDevice(id, /*wake=*/false);
  Failure failure;
  for (LaneId lane : {computeLane(id), copyLane(id)}) {
    Engine &engine = Engine::of(lane);
    engine.drain();
    if (Failure found = engine.takeFailure(); !failure) failure = found;
  }
  if (failure) throw Error(*failure);
}

void setMaxInFlight(int count) {
  if (count < 1) badUse("setMaxInFlight: " + std::to_string(count) + "; expected at least 1");
  Engine::setLimit(count);
}
int maxInFlight() { return Engine::limit(); }

} // namespace sprig
