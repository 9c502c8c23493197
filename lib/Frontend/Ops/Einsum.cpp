// einsum: the steps of lib/Graph/Einsum.h, recorded.
#include "lib/Graph/Einsum.h"
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/contract.h"

namespace sprig {

using frontend::Emitter;

namespace {
Tensor carriedOut(const Emitter &r, const graph::EinsumStep &step, const std::vector<Tensor> &values) {
  using Kind = graph::EinsumStep::Kind;
  const Tensor &a = values[step.a];
  if (step.numbers.size() > Shape::kMaxRank)
    r.fail("has a product of " + std::to_string(step.numbers.size()) + " axes on the way; at most " +
           std::to_string(Shape::kMaxRank) + " are possible");
  Shape numbers(step.numbers);
  switch (step.kind) {
  case Kind::transpose: return r.transpose(a, numbers);
  case Kind::reshape: return r.reshape(a, numbers);
  case Kind::broadcast: return r.broadcastTo(a, numbers);
  case Kind::slice: return r.part(a, a.type(r.at).shape.rank() - 1, numbers[0], numbers[1], numbers[2]);
  case Kind::sum: return r.sum(a, numbers, false);
  case Kind::multiply: return r.mul(a, values[step.b]);
  case Kind::matmul: return r.matmul(a, values[step.b]);
  }
  return a;
}
} // namespace

Tensor einsum(const std::string &equation, const Operands &operands) {
  Emitter r("einsum", operands.at);
  if (operands.tensors.empty()) r.fail("takes one operand or more");
  std::vector<Operand> each(operands.tensors.begin(), operands.tensors.end());
  std::vector<const Operand *> all;
  std::vector<std::vector<int64_t>> shapes;
  for (const Operand &one : each) {
    shapes.push_back(r.typeOf(one.tensor).shape.vector());
    all.push_back(&one);
  }
  DType type = r.promote(all);
  if (type == DType::boolean) r.fail("multiplies numbers, not booleans; convert them with to()");
  graph::EinsumPlan plan = graph::planEinsum(equation, shapes);
  if (!plan.error.empty()) r.fail(plan.error);
  std::vector<Tensor> values;
  for (const Operand &one : each) values.push_back(r.cast(one.tensor, type));
  for (const graph::EinsumStep &step : plan.steps) values.push_back(carriedOut(r, step, values));
  return values[plan.result];
}

} // namespace sprig
