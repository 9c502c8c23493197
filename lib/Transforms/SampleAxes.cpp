#include "lib/Transforms/SampleAxes.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"

using namespace mlir;
using namespace sprig;

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

SampleAxes::SampleAxes(func::FuncOp function, int64_t samples) : samples(samples) {
  for (BlockArgument argument : function.getArguments()) set(argument, 0);
  for (Operation &op : function.getBody().front().without_terminator()) visit(&op);
}

SampleAxis SampleAxes::get(Value value) const {
  auto found = axes.find(value);
  return found == axes.end() ? SampleAxis::mixed() : found->second;
}

void SampleAxes::visit(Operation *op) {
  if (auto scan = dyn_cast<ir::ScanOp>(op)) return visitScan(scan);
  auto isTensor = [](Value value) { return isa<RankedTensorType>(value.getType()); };
  bool isPlain = op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), isTensor);
  DimensionRule rule = isPlain ? dimensionRuleOf(op) : DimensionRule(op);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    SampleAxis axis = isPlain && isTensor(result) ? transfer(rule, op, unsigned(i)) : SampleAxis::mixed();
    // Whatever the rules say, slices along a sample axis are as many as samples.
    bool holds = !axis.isAxis() || (axis.axis() < rankOf(result) && shapeOf(result)[axis.axis()] == samples);
    axes.insert({result, holds ? axis : SampleAxis::mixed()});
  }
}

// The step runs on assumptions about what is carried, which change until it yields what was assumed: a constant that
// treats all samples alike goes along with them, and what does not agree is mixed.
void SampleAxes::visitScan(ir::ScanOp scan) {
  auto ofArgument = [&](Value argument, SampleAxis axis) {
    bool holds = !axis.isAxis() || (axis.axis() < rankOf(argument) && shapeOf(argument)[axis.axis()] == samples);
    return holds ? axis : SampleAxis::mixed();
  };
  auto ofSlice = [](SampleAxis axis) {
    if (!axis.isAxis()) return axis;
    return axis.axis() == 0 ? SampleAxis::mixed() : SampleAxis(axis.axis() - 1);
  };
  SmallVector<SampleAxis> carried, yielded;
  // What the inputs are cut along is what a constant start will follow.
  SampleAxis ofInputs = SampleAxis::none();
  for (Value input : scan.getInputs())
    if (SampleAxis axis = ofSlice(get(input)); axis.isAxis()) ofInputs = axis;
  for (Value initial : scan.getInitial()) {
    SampleAxis axis = get(initial);
    bool follows = axis.isNone() && ofInputs.isAxis() && ofInputs.axis() < rankOf(initial) &&
                   sameForAllSamples(initial, ofInputs.axis());
    carried.push_back(follows ? ofArgument(initial, ofInputs) : axis);
  }
  for (bool changed = true; changed;) {
    changed = false;
    SampleAxes step(samples);
    auto assume = [&](Value argument, SampleAxis axis) { step.axes.insert({argument, ofArgument(argument, axis)}); };
    for (auto [argument, input] : llvm::zip_equal(scan.getInputArguments(), scan.getInputs()))
      assume(argument, ofSlice(get(input)));
    for (auto [argument, axis] : llvm::zip_equal(scan.getCarriedArguments(), carried)) assume(argument, axis);
    for (auto [argument, value] : llvm::zip_equal(scan.getInvariantArguments(), scan.getInvariants()))
      assume(argument, get(value));
    for (Operation &op : scan.getStep().without_terminator()) step.visit(&op);
    yielded.clear();
    for (Value value : scan.getStep().getTerminator()->getOperands()) yielded.push_back(step.get(value));
    for (auto [i, axis] : llvm::enumerate(carried)) {
      if (axis == yielded[i] || axis.isMixed()) continue;
      bool joins = axis.isNone() && yielded[i].isAxis() && sameForAllSamples(scan.getInitial()[i], yielded[i].axis());
      axis = joins ? yielded[i] : SampleAxis::mixed();
      changed = true;
    }
  }
  for (auto [i, result] : llvm::enumerate(scan.getResults())) {
    SampleAxis axis = yielded[i];
    if (i < carried.size())
      axis = carried[i];
    else if (axis.isAxis())
      axis = SampleAxis(axis.axis() + 1);
    axes.insert({result, ofArgument(result, axis)});
  }
}

// Whether all slices of a constant along an axis are the same.
static bool repeatsAlong(ElementsAttr value, int64_t axis) {
  ir::ConstantView view(value);
  if (view.isSplat()) return true;
  ArrayRef<int64_t> shape = view.type().getShape();
  auto count = [](ArrayRef<int64_t> sizes) { return size_t(ShapedType::getNumElements(sizes)); };
  size_t outer = count(shape.take_front(size_t(axis))), slices = size_t(shape[size_t(axis)]);
  size_t bytes = view.bytes().size() / std::max<size_t>(outer * slices, 1);
  for (size_t i = 0; i < outer; ++i) {
    ArrayRef<char> line = view.bytes().slice(i * slices * bytes, slices * bytes);
    // Each slice is the one before it.
    if (line.drop_front(bytes) != line.drop_back(bytes)) return false;
  }
  return true;
}

// Whether a value that depends on no sample also treats all alike along an axis where it has as many elements.
bool SampleAxes::sameForAllSamples(Value value, int64_t axis) const {
  if (axis < 0 || shapeOf(value)[axis] == 1) return true;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ir::ConstantOp>(op)) return repeatsAlong(constant.getValue(), axis);
  if (auto broadcast = dyn_cast_or_null<ir::BroadcastOp>(op))
    return sameForAllSamples(broadcast.getOperand(), axis - rankOf(value) + rankOf(broadcast.getOperand()));
  return false;
}

std::optional<unsigned> SampleAxes::factorOf(const DimensionRule &rule, Operation *op) const {
  std::optional<unsigned> common;
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    SampleAxis axis = get(operand);
    if (axis.isNone()) continue;
    if (axis.isMixed()) return std::nullopt;
    const DimensionRule::Dim &dim = map[size_t(axis.axis())];
    if (dim.size() != 1 || rule.factors[dim.front()].kind != FactorKind::passes) return std::nullopt;
    if (common && *common != dim.front()) return std::nullopt;
    common = dim.front();
  }
  return common;
}

// Which axis of a result consists of the factor that the operands' sample axes are.
SampleAxis SampleAxes::transfer(const DimensionRule &rule, Operation *op, unsigned result) const {
  if (llvm::all_of(op->getOperands(), [&](Value operand) { return get(operand).isNone(); })) return SampleAxis::none();
  std::optional<unsigned> common = factorOf(rule, op);
  if (!common) return SampleAxis::mixed();
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), rule.operands))
    for (auto [axis, dim] : llvm::enumerate(map))
      if (get(operand).isNone() && llvm::is_contained(dim, *common) && !sameForAllSamples(operand, int64_t(axis)))
        return SampleAxis::mixed();
  for (auto [axis, dim] : llvm::enumerate(rule.results[result]))
    if (dim.size() == 1 && dim.front() == *common) return SampleAxis(int64_t(axis));
  return SampleAxis::mixed();
}

int64_t sprig::samplesOf(func::FuncOp function) {
  int64_t samples = -1;
  FunctionType type = function.getFunctionType();
  for (Type each : llvm::concat<const Type>(type.getInputs(), type.getResults())) {
    auto tensor = dyn_cast<RankedTensorType>(each);
    if (!tensor || !tensor.hasStaticShape() || tensor.getRank() == 0) return -1;
    if (samples >= 0 && tensor.getDimSize(0) != samples) return -1;
    samples = tensor.getDimSize(0);
  }
  return type.getNumInputs() ? samples : -1;
}

bool sprig::hasIndependentSamples(func::FuncOp function, Operation **mixes) {
  int64_t samples = samplesOf(function);
  if (samples < 1 || !function.getBody().hasOneBlock()) return false;
  // State that is set is the work of the whole batch.
  if (!function.getBody().getOps<ir::SetParamOp>().empty()) return false;
  // Nor may a call become two where ranks meet in it.
  auto isOfRanks = [](Operation &op) { return op.getDialect() && op.getDialect()->getNamespace() == "dist"; };
  if (llvm::any_of(function.getBody().front(), isOfRanks)) return false;
  SampleAxes axes(function, samples);
  auto isMixed = [&](Value value) { return axes.get(value).isMixed(); };
  for (Operation &op : function.getBody().front().without_terminator())
    if (mixes && !*mixes && llvm::any_of(op.getResults(), isMixed) && llvm::none_of(op.getOperands(), isMixed))
      *mixes = &op;
  return llvm::all_of(function.getBody().front().getTerminator()->getOperands(),
                      [&](Value result) { return axes.get(result) == SampleAxis(0); });
}
