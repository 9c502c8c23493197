#include "lib/Frontend/Bridge/Lower.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNYield.h"
#include "lib/Frontend/Base/Meshes.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Pipeline/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "sprig/error.h"

using namespace mlir;

namespace sprig::frontend::bridge {

Workspace::Workspace() : lease(ContextPool::instance().take()) {
  context()->loadDialect<ir::NNDialect, ir::dist::DistDialect, func::FuncDialect>();
  module = ModuleOp::create(UnknownLoc::get(context()));
}

func::FuncOp Lowering::makeFunction(ModuleOp module, StringRef name, ArrayRef<TensorType> inputs) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types;
  for (const TensorType &type : inputs) types.push_back(toType(context, type));
  auto function = func::FuncOp::create(b, NameLoc::get(b.getStringAttr(name)), name, b.getFunctionType(types, {}));
  function.addEntryBlock();
  return function;
}

void giveResults(OpBuilder &builder, func::FuncOp function, ValueRange results) {
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), results.getTypes()));
}

func::FuncOp Lowering::addFunction(ModuleOp module, StringRef name, const Graph &graph) {
  func::FuncOp function = makeFunction(module, name, {graph.types.data(), graph.inputCount});
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  SmallVector<Value> inputs(function.getArguments().begin(), function.getArguments().end());
  giveResults(b, function, outputsOf(graph, lowerNodes(b, graph, inputs)));
  return function;
}

[[noreturn]] static void refuseNode(const GraphNode &node, const std::string &text) {
  badUse(describePlace(node.source, node.op->text, node.layer) + ": " + text);
}

// What reached here with wrong numbers is a mistake of the front-end; it must not become a crash.
static void checkNode(const Graph &graph, const GraphNode &node, size_t known) {
  for (uint32_t operand : node.operands)
    if (operand >= known)
      refuseNode(node, "reads value " + std::to_string(operand) + ", which no earlier operation makes");
  if (node.firstResult != known || graph.types.size() - known < node.resultCount)
    refuseNode(node, "has results that are not the next " + std::to_string(node.resultCount) + " values of the graph");
}

SmallVector<Value> Lowering::lowerNodes(OpBuilder &builder, const Graph &graph, ArrayRef<Value> inputs,
                                        function_ref<void(size_t, Operation *)> onNode) {
  SmallVector<Value> values(inputs);
  values.reserve(graph.types.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    checkNode(graph, graph.nodes[i], values.size());
    Operation *op = lowerNode(builder, graph, graph.nodes[i], values);
    llvm::append_range(values, op->getResults());
    if (onNode) onNode(i, op);
  }
  for (uint32_t output : graph.outputs)
    if (output >= values.size())
      internalError("a recorded graph gives value " + std::to_string(output) + " of " + std::to_string(values.size()));
  return values;
}

Operation *Lowering::lowerConstant(OpBuilder &builder, const Graph &graph, const GraphNode &node) {
  const TensorType &type = graph.types[node.firstResult];
  size_t element = size_t(size(type.dtype)), bytes = node.constant->size();
  if (node.resultCount != 1 || (bytes != element && bytes != size_t(type.bytes())))
    refuseNode(node, "has " + std::to_string(bytes) + " bytes for a constant of " + describe(type));
  auto value = ir::makeConstant(toType(context, type), ArrayRef<char>(*node.constant));
  return ir::ConstantOp::create(builder, locationOf(context, node), value);
}

/// Whether ranks have parts of different sizes in it.
static bool isUneven(Operation *op, int ranks) {
  auto divides = [&](ValueRange wholes) {
    return llvm::all_of(wholes, [&](Value whole) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
      return shape.empty() || shape.front() % ranks == 0;
    });
  };
  bool givesParts = isa<ir::dist::ReduceScatterOp, ir::dist::ScatterOp, ir::dist::AllToAllOp>(op),
       takesParts = isa<ir::dist::AllGatherOp, ir::dist::GatherOp, ir::dist::AllToAllOp>(op);
  return (givesParts && !divides(op->getOperands())) || (takesParts && !divides(op->getResults()));
}

/// The module has the mesh that a collective names; a function whose ranks have parts of different sizes is this one's.
static void declareMesh(Operation *op, const GraphNode &node) {
  auto use = ir::dist::collectiveUse(op);
  if (!use) return;
  auto [rank, ranks] = placeOnMesh("@" + use->mesh.getValue().str());
  if (!ranks) refuseNode(node, "is of ranks '" + use->mesh.getValue().str() + "', which there are not");
  Builder attributes(op->getContext());
  if (auto function = op->getParentOfType<func::FuncOp>(); function && isUneven(op, ranks))
    function->setAttr(ir::dist::kRankAttr, attributes.getI64IntegerAttr(rank));
  auto module = op->getParentOfType<ModuleOp>();
  StringRef name = use->mesh.getValue();
  if (SymbolTable::lookupSymbolIn(module, name)) return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  ir::dist::MeshOp::create(b, module.getLoc(), name, use->axes, ArrayRef<int64_t>{ranks});
}

/// A mean of all elements as one that ranks can divide, which a sum and a division are not.
static Operation *asLossMean(OpBuilder &builder, ir::ReduceMeanOp mean) {
  RankedTensorType type = mean.getOperand().getType();
  Type element = type.getElementType();
  if (type.getRank() == 0 || int64_t(mean.getAxes().size()) != type.getRank() || !(element.isF32() || element.isF64()))
    return mean;
  Operation *all = ir::LossMeanOp::create(builder, mean.getLoc(), mean.getOperand(), type.getRank());
  if (mean.getKeepDims()) all = ir::ReshapeOp::create(builder, mean.getLoc(), mean.getType(), all->getResult(0));
  mean.erase();
  return all;
}

Operation *Lowering::lowerNode(OpBuilder &builder, const Graph &graph, const GraphNode &node, ArrayRef<Value> values) {
  OperationName name(node.op->text, context);
  if (!name.isRegistered()) refuseNode(node, "is no operation of the compiler");
  if (node.constant) return lowerConstant(builder, graph, node);
  OperationState state(locationOf(context, node), name);
  for (uint32_t operand : node.operands) state.operands.push_back(values[operand]);
  for (uint32_t i = 0; i < node.resultCount; ++i)
    state.types.push_back(toType(context, graph.types[node.firstResult + i]));
  for (size_t i = 0; i < node.regions.size(); ++i) state.addRegion();
  DiagnosticText diagnostics(context);
  Operation *op = builder.create(state);
  name.populateDefaultProperties(op->getPropertiesStorage());
  try {
    for (const Attr &attr : node.attrs) attributes.write(op, attr);
  } catch (const Error &error) {
    refuseNode(node, error.what());
  }
  for (size_t i = 0; i < node.regions.size(); ++i)
    lowerRegion(op->getRegion(unsigned(i)), *node.regions[i], op->getLoc());
  declareMesh(op, node);
  if (failed(verify(op, /*verifyRecursively=*/false))) {
    std::string text = diagnostics.take();
    badUse(text.empty() ? describePlace(node.source, node.op->text, node.layer) + ": is invalid"
                        : withoutOpNames(text));
  }
  if (auto mean = dyn_cast<ir::ReduceMeanOp>(op); mean && isDivided) return asLossMean(builder, mean);
  return op;
}

void Lowering::lowerRegion(Region &region, const Graph &graph, Location location) {
  Block &block = region.emplaceBlock();
  SmallVector<Value> inputs;
  for (uint32_t i = 0; i < graph.inputCount; ++i)
    inputs.push_back(block.addArgument(toType(context, graph.types[i]), location));
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  SmallVector<Value> values = lowerNodes(builder, graph, inputs);
  ir::YieldOp::create(builder, location, outputsOf(graph, values));
}

SmallVector<Value> outputsOf(const Graph &graph, ArrayRef<Value> values) {
  return llvm::map_to_vector(graph.outputs, [&](uint32_t output) { return values[output]; });
}

} // namespace sprig::frontend::bridge

using namespace sprig;
using namespace sprig::frontend;

std::string frontend::printGraph(const Graph &graph) {
  bridge::Workspace work;
  func::FuncOp function = bridge::Lowering(work.context()).addFunction(*work.module, "main", graph);
  std::string text;
  llvm::raw_string_ostream out(text);
  function.print(out, OpPrintingFlags().elideLargeElementsAttrs(32).elideLargeResourceString(64));
  return text + "\n";
}
