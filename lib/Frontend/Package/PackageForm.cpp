#include "lib/Frontend/Package/PackageForm.h"
#include "lib/Graph/GraphRewriter.h"
#include <algorithm>
#include <set>

namespace sprig::frontend {

/// Packages have the state of parameters, but none of their gradients.
static void refuseGradients(const Variant &variant) {
  bool setsState = std::any_of(variant.slots.begin(), variant.slots.end(), [](auto &slot) { return slot.output >= 0; });
  for (const Variant::GradientLink &link : variant.gradients) {
    std::string text;
    if (link.isSeen && link.isPresent)
      text = "uses the gradient that parameter '" + link.parameter.name() +
             "' has already; call zeroGrad() in the function, before backward(), or now";
    else if (link.isSeen && link.output >= 0)
      text = "adds to the gradient of parameter '" + link.parameter.name() +
             "' at every call; call zeroGrad() in the function";
    else if (link.output >= 0 && !setsState)
      text = "leaves a gradient on parameter '" + link.parameter.name() +
             "' and sets no parameter; let an optimizer use it in the function, or return grad()";
    if (!text.empty()) fail(variant.source, variant.name, text + ": gradients of parameters are no state of packages");
  }
}

PackageForm packageForm(const Variant &variant, const std::function<std::string(const Parameter &)> &nameOf) {
  using Kind = Variant::Feed::Kind;
  refuseGradients(variant);
  const Graph &graph = variant.graph;
  PackageForm form;
  GraphRewriter rewriter(graph);
  std::vector<const StateSlot *> slotOf(graph.inputCount, nullptr);
  for (const StateSlot &slot : variant.slots) slotOf[slot.input] = &slot;
  std::vector<const Variant::Feed *> feedOf(graph.inputCount, nullptr);
  size_t next = 0;
  for (uint32_t i = 0; i < graph.inputCount; ++i)
    if (!slotOf[i]) feedOf[i] = &variant.feeds[next++];

  // Arguments in their order, used or not.
  std::vector<uint32_t> arguments;
  for (const TensorType &type : variant.inputs) arguments.push_back(rewriter.addInput(type));
  const TensorType word{DType::i64, {}};
  uint32_t counterInput = UINT32_MAX;
  auto addWord = [&](const char *name, uint64_t value) {
    form.kept.push_back(Tensor::copyOf(&value, word));
    StateSlot slot;
    slot.input = rewriter.addInput(word);
    slot.name = name;
    slot.initial = form.kept.back().bytes(Source());
    form.states.push_back(slot);
    return slot.input;
  };
  for (uint32_t i = 0; i < graph.inputCount; ++i) {
    if (const StateSlot *slot = slotOf[i]) {
      const Parameter &parameter = variant.parameters[size_t(slot - variant.slots.data())];
      StateSlot copy = *slot;
      copy.input = rewriter.addInput(graph.types[i]);
      copy.name = nameOf(parameter);
      form.kept.push_back(parameter.value());
      copy.initial = form.kept.back().bytes(Source());
      form.states.push_back(copy);
      rewriter.map(i, copy.input);
      continue;
    }
    const Variant::Feed &feed = *feedOf[i];
    if (feed.kind == Kind::argument) rewriter.map(i, arguments[feed.index]);
    if (feed.kind == Kind::randomKey) rewriter.map(i, addWord("random/seed", takeRandom(0).key));
    if (feed.kind == Kind::randomBase) rewriter.map(i, counterInput = addWord("random/counter", takeRandom(0).counter));
  }
  for (uint32_t i = 0; i < graph.inputCount; ++i)
    if (feedOf[i] && feedOf[i]->kind == Kind::captured)
      rewriter.map(i, rewriter.addNode(constantNode(feedOf[i]->value.bytes(Source()), feedOf[i]->value.type().bytes()),
                                       graph.types[i]));
  rewriter.copy();
  for (const Variant::GradientLink &link : variant.gradients) // the last outputs: nobody sees them
    if (link.output >= 0) rewriter.to.outputs.pop_back();
  if (counterInput != UINT32_MAX) {
    int64_t count = int64_t(variant.randomDraws);
    uint32_t draws = rewriter.addNode(constantNode(&count, sizeof count), word);
    GraphNode sum;
    sum.op = &opName("nn.add");
    sum.operands = {counterInput, draws};
    uint32_t after = rewriter.addNode(std::move(sum), word);
    for (StateSlot &slot : form.states)
      if (slot.input == counterInput) slot.output = int32_t(rewriter.to.outputs.size());
    rewriter.to.outputs.push_back(after);
  }
  form.graph = std::move(rewriter.to);
  return form;
}

std::vector<std::string> portNames(const std::vector<std::string> &given, size_t count, const char *otherwise,
                                   const char *op, Source at) {
  if (given.size() > count)
    fail(at, op, "has " + std::to_string(given.size()) + " names for " + std::to_string(count) + " " + otherwise + "s");
  std::vector<std::string> names = given;
  for (size_t k = names.size(); k < count; ++k) names.push_back(otherwise + std::to_string(k));
  std::set<std::string> seen;
  for (const std::string &name : names) {
    if (size_t end = name.find('\0'); end != std::string::npos)
      fail(at, op, std::string("the name of an ") + otherwise + " has a NUL after '" + name.substr(0, end) + "'");
    if (name.empty() || !seen.insert(name).second)
      fail(at, op,
           std::string("two ") + otherwise + "s are called '" + name + "'; names are to be different and not empty");
  }
  return names;
}

} // namespace sprig::frontend
