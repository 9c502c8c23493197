// A step of all ranks' samples, operation by operation: this rank's part of it, recorded like any other operations.
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/grad.h"
#include <utility>

namespace sprig::frontend {

static thread_local bool isByOperations = false;

OperationScope::OperationScope() : outer(std::exchange(isByOperations, true)) {}
OperationScope::~OperationScope() { isByOperations = outer; }
bool OperationScope::isOn() { return isByOperations; }

std::vector<Tensor> Variant::callOperations(Variant &self, std::span<const Tensor> arguments) {
  if (!self.part)
    self.part = std::make_shared<Graph>(
        partOfRank(self.graph, self.slots, segmentOptions(), self.name, self.planRanks({}), self.ranks->mesh));
  NoGrad quiet;
  CreationScope scope(self.device);
  RandomPosition random{};
  if (self.randomDraws) random = takeRandom(self.randomDraws);
  std::vector<Tensor> inputs(self.graph.inputCount);
  for (size_t i = 0; i < self.slots.size(); ++i) inputs[self.slots[i].input] = self.parameters[i].value();
  auto feed = self.feeds.begin();
  for (Tensor &input : inputs) {
    if (input.defined()) continue;
    switch (feed->kind) {
    case Feed::Kind::argument: input = arguments[feed->index]; break;
    case Feed::Kind::captured: input = feed->value; break;
    case Feed::Kind::gradient: input = self.gradients[feed->index].parameter.grad(); break;
    case Feed::Kind::randomKey: input = Tensor(int64_t(random.key)); break;
    case Feed::Kind::randomBase: input = Tensor(int64_t(random.counter)); break;
    }
    ++feed;
  }
  std::vector<Tensor> outputs = replay(*self.part, inputs, self.source);
  for (size_t i = 0; i < self.slots.size(); ++i)
    if (self.slots[i].output >= 0) self.parameters[i].set(outputs[size_t(self.slots[i].output)], self.source);
  self.applyEffects();
  outputs.resize(self.results.size());
  return outputs;
}

} // namespace sprig::frontend
