#include "lib/Frontend/Package/PackageForm.h"
#include "lib/Frontend/Base/GraphRewriter.h"

namespace sprig::frontend {

PackageForm packageForm(const Variant &variant, const std::function<std::string(const Parameter &)> &nameOf) {
  using Kind = Variant::Feed::Kind;
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
    slot.initial = form.kept.back().bytes();
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
      copy.initial = form.kept.back().bytes();
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
      rewriter.map(
          i, rewriter.addNode(constantNode(feedOf[i]->value.bytes(), feedOf[i]->value.type().bytes()), graph.types[i]));
  rewriter.copy();
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

} // namespace sprig::frontend
