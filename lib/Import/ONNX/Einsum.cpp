// Einsum: the steps of lib/Graph/Einsum.h as operations.
#include "lib/Graph/Einsum.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

Value emitted(Node &n, const graph::EinsumStep &step, llvm::ArrayRef<Value> values) {
  using Kind = graph::EinsumStep::Kind;
  Value a = values[step.a];
  Ints numbers(step.numbers.begin(), step.numbers.end());
  switch (step.kind) {
  case Kind::transpose: return n.transpose(a, numbers);
  case Kind::reshape: return n.reshape(a, numbers);
  case Kind::broadcast: return n.broadcast(a, numbers);
  case Kind::slice: return n.sliceAxis(a, Emit::rank(a) - 1, numbers[0], numbers[1], numbers[2]);
  case Kind::sum: return n.reduce(ir::ReduceKind::sum, a, numbers, false);
  case Kind::multiply: return n.mul(a, values[step.b]);
  case Kind::matmul: return n.matmul(a, values[step.b]);
  }
  llvm_unreachable("all kinds are above");
}

void einsum(Node &n) {
  llvm::SmallVector<Value> values;
  std::vector<std::vector<int64_t>> shapes;
  for (unsigned i = 0; i < n.inputs(); ++i) {
    values.push_back(n.in(i));
    shapes.emplace_back(Emit::shape(values.back()).begin(), Emit::shape(values.back()).end());
  }
  graph::EinsumPlan plan = graph::planEinsum(n.stringAttr("equation", ""), shapes);
  n.require(plan.error.empty(), plan.error);
  for (const graph::EinsumStep &step : plan.steps) values.push_back(emitted(n, step, values));
  n.out(values[plan.result]);
}

} // namespace

void addEinsum(Table &t) { t.add("Einsum", {12, 28}, einsum); }

} // namespace sprig::onnximport
