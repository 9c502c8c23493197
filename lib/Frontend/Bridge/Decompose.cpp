// decompose: one operation as an expression of primitives.
#include "dialects/NN/NNDialect.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

// What stands for another function in differentiation alone: its region, or its operand, is that function.
static std::shared_ptr<const Graph> withoutMark(const GraphNode &node, std::span<const sprig::TensorType> operands) {
  if (node.op->text == "nn.checkpoint" || node.op->text == "nn.custom_gradient") return node.regions.at(0);
  if (node.op->text != "nn.stop_gradient") return nullptr;
  auto same = std::make_shared<Graph>();
  same->types.assign(operands.begin(), operands.end());
  same->inputCount = uint32_t(operands.size());
  same->outputs = {0};
  return same;
}

std::shared_ptr<const Graph> frontend::decompose(const GraphNode &node, std::span<const sprig::TensorType> operands,
                                                 std::span<const sprig::TensorType> results) {
  if (auto inner = withoutMark(node, operands)) return inner;
  bridge::Workspace work;
  OperationName name(node.op->text, work.context());
  if (!name.hasInterface<DecomposableOpInterface>()) return nullptr;

  Graph graph = graphOf(node, operands, results);
  func::FuncOp function = bridge::Lowering(work.context()).addFunction(*work.module, "main", graph);
  bridge::derive(function, bridge::Derivation::decompose);
  return std::make_shared<Graph>(bridge::graphOf(function.getBody().front(), {node.source, node.layer}));
}
