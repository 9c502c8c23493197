// compile(): which variant a call runs, and why one is recorded.
#include "sprig/function.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Variant.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

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
} // namespace

void setCompilation(bool on) { globalSwitch() = on; }
bool compilationIsOn() { return globalSwitch(); }

struct FunctionCore::Impl {
  FunctionOptions options;
  Source source;
  mutable std::mutex mutex;
  std::list<std::shared_ptr<Variant>> variants; // the one that was used last first
  std::vector<std::string> reasons;
  bool on = true;

  std::string where() const {
    std::string name = options.name;
    if (source.line) name += " (" + std::string(source.file) + ":" + std::to_string(source.line) + ")";
    return name;
  }

  /// What the call has that the last one had not.
  std::string reason(std::span<const Tensor> inputs, uint64_t structure) const {
    if (variants.empty()) return "first call";
    const Variant &last = *variants.front();
    if (last.inputs.size() != inputs.size())
      return std::to_string(inputs.size()) + " tensors, recorded were " + std::to_string(last.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!(inputs[i].type() == last.inputs[i]))
        return "argument " + std::to_string(i) + " is " + describe(inputs[i].type()) + ", recorded was " +
               describe(last.inputs[i]);
    for (const auto &[flag, value] : last.observed)
      if (*flag != value)
        return std::string("a layer is in ") + (*flag ? "training" : "evaluation") + " mode, recorded was " +
               (value ? "training" : "evaluation") + " mode";
    if (std::string difference = last.gradientDifference(inputs); !difference.empty()) return difference;
    if (last.structure != structure) return "an argument that is a number of the host, or a length, has another value";
    return "it has been dropped since";
  }
};

FunctionCore::FunctionCore(FunctionOptions options, Source at) : impl(std::make_unique<Impl>()) {
  impl->options = std::move(options);
  impl->source = at;
}
FunctionCore::~FunctionCore() = default;

void FunctionCore::enable(bool on) {
  std::lock_guard lock(impl->mutex);
  impl->on = on;
}
bool FunctionCore::enabled() const {
  std::lock_guard lock(impl->mutex);
  return impl->on;
}
std::vector<std::string> FunctionCore::recordings() const {
  std::lock_guard lock(impl->mutex);
  return impl->reasons;
}

std::vector<Tensor> FunctionCore::call(std::span<const Tensor> inputs, uint64_t structure, const Body &body) {
  for (const Tensor &input : inputs) requireDefined(input, impl->options.name.c_str(), "an argument", impl->source);
  // Within a function that is being recorded it is a part of that.
  if (Trace::current() || !compilationIsOn()) return body(inputs);
  std::unique_lock lock(impl->mutex);
  if (!impl->on) {
    lock.unlock();
    return body(inputs);
  }
  auto &variants = impl->variants;
  for (auto it = variants.begin(); it != variants.end(); ++it) {
    if (!(*it)->fits(inputs, structure)) continue;
    if (it != variants.begin()) variants.splice(variants.begin(), variants, it);
    return Variant::call(variants.front(), inputs);
  }
  std::string reason = impl->reason(inputs, structure);
  if (!variants.empty()) {
    std::string line = impl->where() + " is compiled again: " + reason;
    if (impl->options.report)
      impl->options.report(line);
    else
      std::fprintf(stderr, "sprig: %s\n", line.c_str());
  }
  std::vector<TensorType> types;
  for (const Tensor &input : inputs) types.push_back(input.type());
  std::shared_ptr<Variant> variant = Variant::record(types, body, impl->options.name, impl->source, inputs);
  variant->structure = structure;
  impl->reasons.push_back(reason);
  variants.push_front(variant);
  if (int(variants.size()) > impl->options.maxVariants) variants.pop_back();
  return Variant::call(variant, inputs);
}

void synchronize() {
  flush(/*wake=*/false); // who waits helps
  Engine::instance().drain();
  if (Failure failure = Engine::instance().takeFailure()) throw Error(*failure);
}

void setMaxInFlight(int count) {
  if (count < 1) throw Error(ErrorKind::usage, "setMaxInFlight: " + std::to_string(count) + "; expected at least 1");
  Engine::instance().setLimit(count);
}
int maxInFlight() { return Engine::instance().limit(); }

} // namespace sprig
