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
  std::vector<Tensor> inputs(self.graph.inputCount), fed;
  for (size_t i = 0; i < self.slots.size(); ++i) inputs[self.slots[i].input] = self.parameters[i].value();
  self.feed(arguments, fed);
  auto next = fed.begin();
  for (Tensor &input : inputs)
    if (!input.defined()) input = *next++;
  std::vector<Tensor> outputs = replay(*self.part, inputs, self.source);
  for (size_t i = 0; i < self.slots.size(); ++i)
    if (self.slots[i].output >= 0) self.parameters[i].set(outputs[size_t(self.slots[i].output)], self.source);
  self.applyEffects();
  outputs.resize(self.results.size());
  return outputs;
}

} // namespace sprig::frontend
