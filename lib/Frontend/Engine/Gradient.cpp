// grad() and what is made of it: the lineage becomes a graph, the compiler's own differentiation writes its gradient,
// and the result is recorded like any other operations.
#include "sprig/grad.h"
#include "lib/Frontend/Engine/CallLineage.h"
#include "lib/Frontend/Engine/ChainRule.h"
#include "lib/Frontend/Engine/Consumed.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/Trace.h"
#include <algorithm>
#include <optional>

namespace sprig {

using namespace frontend;

namespace {

void requireFloats(std::span<const Tensor> tensors, const char *what, Source at) {
  for (const Tensor &t : tensors) {
    requireDefined(t, "grad", what, at);
    if (!isFloat(t.dtype())) fail(at, "grad", std::string(what) + " is " + describe(t.type()) + ", expected floats");
  }
}

/// What lies between, where gradients may be taken of it.
Lineage lineageBetween(std::span<const Tensor> outputs, std::span<const Tensor> wrt, const char *op,
                       const std::string &unreached, Source at) {
  if (Trace *trace = Trace::currentFunction())
    for (const Tensor &output : outputs) noteUse(*trace, output, wrt);
  Lineage lineage = traceBack(outputs, wrt);
  if (const Value *parameter = lineage.otherVersion)
    fail(
        at, op,
        "the output depends on another version of parameter '" + parameter->owner->name +
            "' than the one that it has now: it has been set since, which ends what was recorded before, or a function "
            "that is being recorded uses a tensor of outside that was computed from it; take all gradients of a step, "
            "then update");
  if (!lineage.reaches) fail(at, op, unreached + whyUnreached(outputs, wrt));
  refuseCalls(lineage.nodes, op, at);
  return lineage;
}

/// For what is said where gradients of them are asked for: those that were recorded from this point of the sequence on,
/// and results of compiled programs. A gradient may also be a value that was there before.
void markGradients(std::span<const Tensor> gradients, uint64_t since) {
  for (const Tensor &g : gradients) {
    Value &value = *g.raw();
    bool isRecorded = value.producer ? value.producer->sequence >= since : value.state.load() == Value::State::queued;
    if (isRecorded && !value.tracked) value.ofGradient = true;
  }
}

} // namespace

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> wrt, const GradOptions &options,
                         Source at) {
  for (const Tensor &t : wrt)
    if (t.defined() && t.raw()->owner) t.raw()->owner->standing.isSettled = true;
  return gradientsOf(outputs, wrt, options, at);
}

std::vector<Tensor> frontend::gradientsOf(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                          const GradOptions &options, Source at) {
  requireFloats(outputs, "the output", at);
  requireFloats(wrt, "what the gradient is asked for", at);
  bool seeded = !options.seeds.empty();
  if (!seeded && (outputs.size() != 1 || outputs[0].numel() != 1))
    fail(at, "grad",
         outputs.size() == 1
             ? "the output is " + describe(outputs[0].type()) + "; expected a scalar, or seeds of the output's type"
             : std::to_string(outputs.size()) + " outputs without seeds; expected one scalar");
  if (seeded && options.seeds.size() != outputs.size())
    fail(at, "grad",
         std::to_string(options.seeds.size()) + " seeds for " + std::to_string(outputs.size()) + " outputs");
  for (size_t i = 0; i < options.seeds.size(); ++i)
    if (!(options.seeds[i].type(at) == outputs[i].type()))
      fail(at, "grad",
           "seed " + std::to_string(i) + " is " + describe(options.seeds[i].type()) + ", its output " +
               describe(outputs[i].type()));
  if (wrt.empty()) return {};
  Lineage lineage =
      lineageBetween(outputs, wrt, "grad", "the output does not depend on what the gradient is asked for", at);
  noteUntrained(lineage.untrained, wrt);
  consume(lineage);
  for (const Tensor &output : outputs)
    requireFinite(output, CheckedAs::derived, [] { return "the value that is differentiated"; }, at);
  std::optional<NoGrad> quiet;
  if (!options.createGraph) quiet.emplace();
  uint64_t since = newSequence();
  std::vector<Tensor> gradients = pullBack(lineage, options.seeds, at);
  if (!options.createGraph) markGradients(gradients, since);
  for (size_t i = 0; i < gradients.size(); ++i)
    requireFinite(
        gradients[i], CheckedAs::derived, [&] { return "the gradient of " + describeAsked(*wrt[i].raw()); }, at);
  return gradients;
}

std::vector<Tensor> grad(const Tensor &output, std::span<const Parameter> wrt, const GradOptions &options, Source at) {
  std::vector<Tensor> values;
  for (const Parameter &parameter : wrt) {
    if (!parameter.defined()) fail(at, "grad", "is asked for a parameter that holds nothing");
    values.push_back(parameter.value());
  }
  return grad({&output, 1}, values, options, at);
}

std::vector<Tensor> derivativeAlong(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                    std::span<const Tensor> tangents, Source at) {
  requireFloats(outputs, "the output", at);
  requireFloats(wrt, "what is changed", at);
  if (wrt.size() != tangents.size())
    fail(at, "jvp", std::to_string(tangents.size()) + " tangents for " + std::to_string(wrt.size()) + " values");
  for (size_t i = 0; i < wrt.size(); ++i)
    if (!(tangents[i].type(at) == wrt[i].type()))
      fail(at, "jvp", "the tangent is " + describe(tangents[i].type()) + ", the value " + describe(wrt[i].type()));
  Lineage lineage = lineageBetween(outputs, wrt, "jvp", "the output does not depend on what is changed", at);
  return pushForward(lineage, tangents, at);
}

std::vector<Tensor> checkpointAll(const TensorFunction &f, std::span<const Tensor> inputs, Source at) {
  std::vector<TensorType> types;
  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  for (const Tensor &input : inputs) types.push_back(input.type(at));
  std::vector<Parameter> set;
  auto body = std::make_shared<const Graph>(traceRegion(types, f, operands, at, &set));
  types.clear();
  for (uint32_t output : body->outputs) types.push_back(body->types[output]);
  std::vector<Tensor> results = recordAll(opName("nn.checkpoint"), operands, {}, types, at, {body});
  // They are set once: computing the part again sets nothing.
  size_t count = results.size() - set.size();
  for (size_t i = 0; i < set.size(); ++i) set[i].set(results[count + i], at);
  results.resize(count);
  return results;
}

namespace {
/// Both functions are recorded at once, so one whose backward leads back to itself would never end.
class CustomGradientDepth {
public:
  explicit CustomGradientDepth(Source at) {
    if (depth == kMost)
      fail(at, "customGradient",
           "is within " + std::to_string(kMost) +
               " others; a backward may not use the customGradient that it belongs to");
    ++depth;
  }
  ~CustomGradientDepth() { --depth; }
  CustomGradientDepth(const CustomGradientDepth &) = delete;

private:
  static constexpr int kMost = 64;
  static thread_local int depth;
};
thread_local int CustomGradientDepth::depth = 0;
} // namespace

std::vector<Tensor> customGradient(const TensorFunction &forward, const TensorFunction &backward,
                                   std::span<const Tensor> inputs, Source at) {
  CustomGradientDepth depth(at);
  std::vector<TensorType> types;
  std::vector<Tensor> captured;
  for (const Tensor &input : inputs) types.push_back(input.type(at));
  Graph front = traceRegion(types, forward, captured, at);
  if (!captured.empty())
    fail(at, "customGradient",
         "forward uses a tensor " + describe(captured[0].type()) + " of outside; give it as an input");
  std::vector<TensorType> results, all = types;
  for (uint32_t output : front.outputs) results.push_back(front.types[output]);
  all.insert(all.end(), results.begin(), results.end());
  all.insert(all.end(), results.begin(), results.end());
  Graph back = traceRegion(all, backward, captured, at);
  if (!captured.empty())
    fail(at, "customGradient",
         "backward uses a tensor " + describe(captured[0].type()) + " of outside; give it as an input");
  if (back.outputs.size() != types.size())
    fail(at, "customGradient",
         "backward gives " + std::to_string(back.outputs.size()) + " cotangents for " + std::to_string(types.size()) +
             " inputs");
  for (size_t i = 0; i < types.size(); ++i)
    if (!(back.types[back.outputs[i]] == types[i]))
      fail(at, "customGradient",
           "backward gives " + describe(back.types[back.outputs[i]]) + " for an input " + describe(types[i]));
  return recordAll(opName("nn.custom_gradient"), inputs, {}, results, at,
                   {std::make_shared<const Graph>(std::move(front)), std::make_shared<const Graph>(std::move(back))});
}

} // namespace sprig
