// grad() and what is made of it: the lineage becomes a graph, the compiler's own differentiation writes its gradient,
// and the result is recorded like any other operations.
#include "sprig/grad.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include <mutex>
#include <optional>
#include <unordered_map>

namespace sprig {

using namespace frontend;

namespace {

/// Nodes that gradients were taken through since the last end of a lineage; a reference each.
struct Consumed {
  std::vector<Node *> nodes;
  ~Consumed() {
    for (Node *node : nodes) drop(node);
  }
};
thread_local Consumed consumed;

void consume(const Lineage &lineage) {
  for (Node *node : lineage.nodes) {
    if (node->consumed) continue;
    node->consumed = true;
    keep(node);
    consumed.nodes.push_back(node);
  }
}

struct ContinuationCache {
  std::mutex mutex;
  std::unordered_map<Hash, std::shared_ptr<const Continuation>> rows;
  static constexpr size_t kMostRows = 1024;

  template <typename Make> std::shared_ptr<const Continuation> get(const Hash &key, Make make) {
    {
      std::lock_guard lock(mutex);
      if (auto found = rows.find(key); found != rows.end()) return found->second;
    }
    auto made = std::make_shared<Continuation>(make());
    std::lock_guard lock(mutex);
    if (rows.size() >= kMostRows) rows.clear();
    return rows.try_emplace(key, std::move(made)).first->second;
  }
};
ContinuationCache &cache() {
  static auto &instance = *new ContinuationCache;
  return instance;
}

void requireFloats(std::span<const Tensor> tensors, const char *what, Source at) {
  for (const Tensor &t : tensors) {
    requireDefined(t, "grad", what, at);
    if (!isFloat(t.dtype())) fail(at, "grad", std::string(what) + " is " + describe(t.type()) + ", expected floats");
  }
}

std::vector<Tensor> replayBehind(Lineage &lineage, const Continuation &next, std::span<const Tensor> more, Source at) {
  std::vector<Tensor> inputs;
  for (uint32_t use : next.uses) inputs.push_back(valueOf(lineage, use));
  inputs.insert(inputs.end(), more.begin(), more.end());
  return replay(next.graph, inputs, at);
}

} // namespace

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> wrt, const GradOptions &options,
                         Source at) {
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
  Lineage lineage = traceBack(outputs, wrt);
  if (!lineage.reaches)
    fail(at, "grad",
         "the output does not depend on what the gradient is asked for; parameters are set by an optimizer's update, "
         "which ends what was recorded before, and values need requireGrad() before they are used");
  lineage.key.mix(seeded);
  auto next =
      cache().get(lineage.key, [&] { return gradientOf(lineage.graph, lineage.graph.outputs, lineage.wrt, seeded); });
  consume(lineage);
  std::optional<NoGrad> quiet;
  if (!options.createGraph) quiet.emplace();
  return replayBehind(lineage, *next, options.seeds, at);
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
  Lineage lineage = traceBack(outputs, wrt);
  if (!lineage.reaches) fail(at, "jvp", "the output does not depend on what is changed");
  lineage.key.mix(0x6a7670);
  auto next = cache().get(lineage.key, [&] { return tangentOf(lineage.graph, lineage.graph.outputs, lineage.wrt); });
  return replayBehind(lineage, *next, tangents, at);
}

void frontend::endLineage() {
  for (Node *node : consumed.nodes) {
    node->tracked = false;
    releaseLineage(node, Node::kUntracked);
    drop(node);
  }
  consumed.nodes.clear();
  if (!Trace::current()) endSegment();
}

std::vector<Tensor> checkpointAll(const TensorFunction &f, std::span<const Tensor> inputs, Source at) {
  std::vector<TensorType> types;
  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  for (const Tensor &input : inputs) types.push_back(input.type(at));
  auto body = std::make_shared<const Graph>(traceRegion(types, f, operands, at));
  std::vector<TensorType> results;
  for (uint32_t output : body->outputs) results.push_back(body->types[output]);
  return recordAll(opName("nn.checkpoint"), operands, {}, results, at, {body});
}

std::vector<Tensor> customGradient(const TensorFunction &forward, const TensorFunction &backward,
                                   std::span<const Tensor> inputs, Source at) {
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
