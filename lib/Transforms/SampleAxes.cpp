#include "lib/Transforms/SampleAxes.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig;

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }
static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

SampleAxis SampleAxes::get(Value value) const {
  auto found = axes.find(value);
  return found == axes.end() ? SampleAxis::mixed() : found->second;
}

void SampleAxes::visit(Operation *op) {
  if (auto scan = dyn_cast<ir::ScanOp>(op)) return visitScan(scan);
  SampleAxis axis = SampleAxis::mixed();
  bool tensors = llvm::all_of(op->getResults(), [](Value result) { return isa<RankedTensorType>(result.getType()); });
  if (tensors && op->getNumRegions() == 0) {
    bool constant = llvm::all_of(op->getOperands(), [&](Value operand) { return get(operand).isNone(); });
    axis = constant ? SampleAxis::none() : transfer(op);
  }
  for (Value result : op->getResults()) {
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

// Whether a value that depends on no sample also treats all alike along an axis where it has as many elements.
bool SampleAxes::sameForAllSamples(Value value, int64_t axis) const {
  if (axis < 0 || shapeOf(value)[axis] == 1) return true;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ir::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    return bool(splat);
  }
  if (auto broadcast = dyn_cast_or_null<ir::BroadcastOp>(op))
    return sameForAllSamples(broadcast.getOperand(), axis - rankOf(value) + rankOf(broadcast.getOperand()));
  return false;
}

// Operands that broadcast to a result of the given rank, dimensions aligned at the end.
SampleAxis SampleAxes::aligned(ValueRange operands, int64_t rank) const {
  SampleAxis axis = SampleAxis::none();
  for (Value operand : operands) {
    SampleAxis own = get(operand);
    if (own.isMixed()) return own;
    if (own.isNone()) continue;
    SampleAxis moved(own.axis() + rank - rankOf(operand));
    if (axis.isAxis() && axis != moved) return SampleAxis::mixed();
    axis = moved;
  }
  if (axis.isNone()) return axis;
  for (Value operand : operands)
    if (get(operand).isNone() && !sameForAllSamples(operand, axis.axis() - rank + rankOf(operand)))
      return SampleAxis::mixed();
  return axis;
}

// The axis stays one where the dimensions before it hold as many elements as before.
SampleAxis SampleAxes::throughReshape(Value operand, Value result) const {
  SampleAxis own = get(operand);
  if (!own.isAxis()) return own;
  auto before = [](ArrayRef<int64_t> shape, int64_t axis) {
    int64_t product = 1;
    for (int64_t size : shape.take_front(axis)) product *= size;
    return product;
  };
  ArrayRef<int64_t> shape = shapeOf(result);
  int64_t wanted = before(shapeOf(operand), own.axis());
  auto fits = [&](int64_t axis) {
    return axis < int64_t(shape.size()) && shape[axis] == samples && before(shape, axis) == wanted;
  };
  // With one sample several may fit: prefer the axis that does not move.
  if (fits(own.axis())) return own;
  for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
    if (fits(axis)) return SampleAxis(axis);
  return SampleAxis::mixed();
}

SampleAxis SampleAxes::throughMatmul(ir::MatmulOp op) const {
  SampleAxis lhs = get(op.getLhs()), rhs = get(op.getRhs());
  if (lhs.isMixed() || rhs.isMixed()) return SampleAxis::mixed();
  int64_t rank = rankOf(op.getResult()), lhsRank = rankOf(op.getLhs()), rhsRank = rankOf(op.getRhs());
  // Rows of the left or columns of the right side.
  if (lhs.isAxis() && lhs.axis() == lhsRank - (op.getTransposeLhs() ? 1 : 2))
    return rhs.isNone() ? SampleAxis(rank - 2) : SampleAxis::mixed();
  if (rhs.isAxis() && rhs.axis() == rhsRank - (op.getTransposeRhs() ? 2 : 1))
    return lhs.isNone() ? SampleAxis(rank - 1) : SampleAxis::mixed();
  // Else it must be a leading dimension of what has one; the reduced dimension mixes samples.
  if ((lhs.isAxis() && lhs.axis() >= lhsRank - 2) || (rhs.isAxis() && rhs.axis() >= rhsRank - 2))
    return SampleAxis::mixed();
  return aligned({op.getLhs(), op.getRhs()}, rank);
}

SampleAxis SampleAxes::throughGather(ir::GatherOp op) const {
  SampleAxis data = get(op.getOperand()), indices = get(op.getIndices());
  int64_t axis = op.getAxis();
  if (data.isNone() && indices.isAxis()) return SampleAxis(axis + indices.axis());
  if (!data.isAxis() || !indices.isNone() || data.axis() == axis) return SampleAxis::mixed();
  return data.axis() < axis ? data : SampleAxis(data.axis() + rankOf(op.getIndices()) - 1);
}

// Dimensions that a reduction takes away, or keeps as 1.
SampleAxis SampleAxes::withoutAxes(Value operand, ArrayRef<int64_t> removed, bool kept) const {
  SampleAxis own = get(operand);
  if (!own.isAxis()) return own;
  if (llvm::is_contained(removed, own.axis())) return SampleAxis::mixed();
  int64_t before = llvm::count_if(removed, [&](int64_t axis) { return axis < own.axis(); });
  return kept ? own : SampleAxis(own.axis() - before);
}

SampleAxis SampleAxes::transfer(Operation *op) const {
  if (isa<ElementwiseOpInterface>(op)) return aligned(op->getOperands(), rankOf(op->getResult(0)));
  // The first operand's axis, unless the operation works along it.
  auto unless = [&](bool worksAlong) { return worksAlong ? SampleAxis::mixed() : get(op->getOperand(0)); };
  SampleAxis first = get(op->getOperand(0));
  auto others = [&] { // whether the other operands are the same for all samples
    return llvm::all_of(op->getOperands().drop_front(), [&](Value operand) { return get(operand).isNone(); });
  };
  int64_t axis = first.axis();
  return TypeSwitch<Operation *, SampleAxis>(op)
      .Case<ir::ReshapeOp>([&](auto reshape) { return throughReshape(reshape.getOperand(), reshape.getResult()); })
      .Case<ir::BroadcastOp>([&](auto broadcast) { return aligned(op->getOperands(), rankOf(broadcast.getResult())); })
      .Case<ir::TransposeOp>([&](auto transpose) {
        const int64_t *at = llvm::find(transpose.getPermutation(), axis);
        return first.isAxis() ? SampleAxis(at - transpose.getPermutation().begin()) : first;
      })
      .Case<ir::SliceOp>([&](auto slice) {
        return unless(first.isAxis() && (slice.getStarts()[axis] != 0 || slice.getSizes()[axis] != samples ||
                                         (samples > 1 && slice.getSteps()[axis] != 1)));
      })
      .Case<ir::ConcatOp>([&](auto concat) {
        SampleAxis common = aligned(op->getOperands(), rankOf(concat.getResult()));
        return common.isAxis() && common.axis() == int64_t(concat.getAxis()) ? SampleAxis::mixed() : common;
      })
      .Case<ir::PadOp>([&](auto pad) {
        return unless(!others() || (first.isAxis() && (pad.getLow()[axis] != 0 || pad.getHigh()[axis] != 0)));
      })
      .Case<ir::GatherOp>([&](auto gather) { return throughGather(gather); })
      .Case<ir::GatherElementsOp>([&](auto gather) {
        SampleAxis common = aligned(op->getOperands(), rankOf(gather.getResult()));
        return common.isAxis() && common.axis() == int64_t(gather.getAxis()) ? SampleAxis::mixed() : common;
      })
      .Case<ir::ReduceOp>(
          [&](auto reduce) { return withoutAxes(op->getOperand(0), reduce.getAxes(), reduce.getKeepDims()); })
      .Case<ir::ArgReduceOp>([&](auto reduce) {
        return withoutAxes(op->getOperand(0), {int64_t(reduce.getAxis())}, reduce.getKeepDims());
      })
      .Case<ir::CumulativeOp>([&](auto scan) { return unless(axis == int64_t(scan.getAxis())); })
      .Case<ir::TopKOp>([&](auto top) { return unless(axis == int64_t(top.getAxis())); })
      // The first dimension counts images; a flat index of arg_max_pool counts over all of them.
      .Case<ir::PoolOp>([&](auto) { return unless(axis != 0); })
      .Case<ir::ConvOp, ir::ConvTransposeOp>([&](auto) { return unless(axis != 0 || !others()); })
      .Case<ir::MatmulOp>([&](auto matmul) { return throughMatmul(matmul); })
      .Default([](Operation *) { return SampleAxis::mixed(); });
}
