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
  bridge::Lowering lowering(work.context());
  func::FuncOp function = lowering.makeFunction(*work.module, "main", {operands.data(), operands.size()});
  Block &body = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> arguments(function.getArguments().begin(), function.getArguments().end());
  SmallVector<Value> values = lowering.lowerNodes(b, graph, arguments);
  ValueRange wanted = ValueRange(values).drop_front(operands.size());
  func::ReturnOp::create(b, function.getLoc(), wanted);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), wanted.getTypes()));
  bridge::derive(function, bridge::Derivation::decompose);

  bridge::GraphReader reader({node.source, node.layer});
  for (Value argument : function.getArguments()) reader.addInput(argument);
  reader.addOperations(body);
  return std::make_shared<Graph>(reader.finish(body.getTerminator()->getOperands()));
}
