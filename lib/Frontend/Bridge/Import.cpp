#include "lib/Frontend/Bridge/Import.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "sprig/error.h"

using namespace mlir;

namespace sprig::frontend::bridge {

uint32_t GraphReader::number(Value value) {
  graph.types.push_back(fromType(value.getType()));
  return numbers[value] = uint32_t(graph.types.size() - 1);
}

void GraphReader::addInputs(ValueRange values) {
  for (Value value : values) number(value);
  graph.inputCount += uint32_t(values.size());
}

void GraphReader::addOperations(Block &block, const llvm::DenseSet<Operation *> *only) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && (!only || only->contains(&op))) add(&op);
}

void GraphReader::add(Operation *op) {
  GraphNode node;
  node.op = &opName(op->getName().getStringRef());
  Place place = placeOf(op->getLoc(), otherwise);
  node.source = place.source;
  node.layer = place.layer;
  node.gradientOf = forwardIn(op->getLoc(), place);
  for (Value operand : op->getOperands()) {
    auto found = numbers.find(operand);
    if (found == numbers.end()) internalError("a pass of the compiler left " + node.op->text + " without an operand");
    node.operands.push_back(found->second);
  }
  if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
    ir::ConstantView view(constant.getValue());
    node.constant = std::make_shared<std::vector<char>>(view.bytes().begin(), view.bytes().end());
  } else {
    node.attrs = attributesOf(op);
    if (StringAttr device = deviceIn(op->getLoc()))
      node.attrs.push_back(Attr::other(ir::kPlaceAttr.data(), intern('"' + device.str() + '"').c_str()));
  }
  for (Region &region : op->getRegions())
    node.regions.push_back(std::make_shared<Graph>(graphOf(region.front(), place)));
  node.firstResult = uint32_t(graph.types.size());
  node.resultCount = op->getNumResults();
  for (Value result : op->getResults()) number(result);
  graph.nodes.push_back(std::move(node));
}

Graph GraphReader::finish(ValueRange outputs) {
  for (Value output : outputs) graph.outputs.push_back(numbers.at(output));
  return std::move(graph);
}

Graph graphOf(Block &block, Place otherwise) {
  GraphReader reader(otherwise);
  reader.addInputs(block.getArguments());
  reader.addOperations(block);
  return reader.finish(block.getTerminator()->getOperands());
}

llvm::DenseSet<Operation *> neededFor(ValueRange values, function_ref<bool(Value)> isKnown) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open(values.begin(), values.end());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = isKnown(value) ? nullptr : value.getDefiningOp();
    if (op && needed.insert(op).second) llvm::append_range(open, op->getOperands());
  }
  return needed;
}

} // namespace sprig::frontend::bridge
