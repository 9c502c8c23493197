// Lengths of operations that make something of all elements along a dimension: what lies behind its end does not count.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/ReduceOrder.h"
#include "dialects/NN/SumOrder.h"
#include "lib/Lengths/LengthRules.h"

using namespace mlir;

namespace sprig {

// Zero times -0 is -0, and to add that changes nothing, not even the sign of a zero.
LogicalResult LengthRules::visitMatmul(ir::MatmulOp op) {
  int64_t lhsDim = tensorOf(op.getLhs()).getRank() - (op.getTransposeLhs() ? 2 : 1);
  int64_t rhsDim = tensorOf(op.getRhs()).getRank() - (op.getTransposeRhs() ? 1 : 2);
  Length depth = of(op.getLhs())[size_t(lhsDim)];
  if (depth.isFixed() && !grows(op.getRhs(), rhsDim)) return followRule(op);
  if (depth != of(op.getRhs())[size_t(rhsDim)]) return refuse(op) << "its sides grow differently";
  int64_t shortest = depth.at(programs.first()), longest = depth.at(programs.last());
  if (shortest <= kLongestChain && longest > kLongestChain)
    return refuse(op) << "it adds up " << shortest << " to " << longest << " products, and sums of more than "
                      << kLongestChain << " are cut: have one range of lengths end where there are " << kLongestChain;
  if (failed(followRule(op, {{0, lhsDim}, {1, rhsDim}}))) return failure();
  auto softmax = op.getLhs().getDefiningOp<ir::SoftmaxOp>();
  bool endsInZeros = softmax && int64_t(softmax.getAxis()) == lhsDim;
  if (!endsInZeros) maskOperand(op, {0, lhsDim}, Neutral::zero);
  maskOperand(op, {1, rhsDim}, Neutral::negativeZero);
  return success();
}

// Whether lengths of a range are summed in different orders, as few are whose sizes are no simple multiples of them.
bool LengthRules::changesOrder(ir::ReduceOp op) const {
  auto isSplitAt = [&](int64_t t) {
    SmallVector<int64_t> shape;
    for (const Length &length : of(op.getOperand())) shape.push_back(length.at(t));
    return ir::isSumOfSamplesAt(op, shape);
  };
  return isSplitAt(programs.first()) != isSplitAt(programs.last());
}

LogicalResult LengthRules::visitReduce(ir::ReduceOp op) {
  if (changesOrder(op))
    return refuse(op)
           << "long sums are taken in another order than short ones (docs/numerics.md), and this one is long "
              "at some of the range's lengths: have one range of lengths end where it becomes so";
  SmallVector<Place> reduced;
  for (int64_t axis : op.getAxes())
    if (grows(op.getOperand(), axis)) reduced.push_back({0, axis});
  if (failed(followRule(op, reduced))) return failure();
  auto fill = [&] {
    switch (op.getKind()) {
    case ir::ReduceKind::sum: return Neutral::negativeZero;
    case ir::ReduceKind::prod: return Neutral::one;
    case ir::ReduceKind::max: return Neutral::lowest;
    case ir::ReduceKind::min: return Neutral::highest;
    }
    llvm_unreachable("a kind");
  };
  for (Place place : reduced) maskOperand(op, place, fill());
  return success();
}

// Softmax, running sums, largest elements: where they run from the first element on, later ones change nothing.
LogicalResult LengthRules::visitAlong(Operation *op, int64_t axis) {
  if (!grows(op->getOperand(0), axis)) return followRule(op);
  Length length = of(op->getOperand(0))[size_t(axis)];
  std::optional<Neutral> fill;
  bool keepsAxis = true;
  if (isa<ir::SoftmaxOp, ir::LogSoftmaxOp>(op)) fill = Neutral::lowest;
  if (auto running = dyn_cast<ir::CumulativeOp>(op); running && running.getReverse())
    fill = running.getKind() == ir::ReduceKind::sum ? Neutral::negativeZero : Neutral::one;
  if (auto choice = dyn_cast<ir::ArgReduceOp>(op)) {
    if (choice.getLastIndex()) return refuse(op) << "the last of equal elements could be one that nobody gave";
    fill = choice.getKind() == ir::ReduceKind::max ? Neutral::lowest : Neutral::highest;
    keepsAxis = false;
  }
  if (auto largest = dyn_cast<ir::TopKOp>(op)) {
    fill = largest.getLargest() ? Neutral::lowest : Neutral::highest;
    keepsAxis = false;
  }
  SmallVector<ResultLength> along;
  for (unsigned i = 0; keepsAxis && i < op->getNumResults(); ++i) along.push_back({i, axis, length});
  if (failed(followRule(op, {{0, axis}}, along))) return failure();
  if (fill) maskOperand(op, {0, axis}, *fill);
  return success();
}

namespace {
/// What windows do along one dimension.
struct Window {
  int64_t size, stride, dilation, low, high;

  Length outputs(const Length &inputs) const {
    return inputs.plus(low + high - dilation * (size - 1)).everyNth(stride);
  }
};
} // namespace

template <typename OpT> static Window windowOf(OpT op, int64_t size, int64_t spatial) {
  int64_t dims = int64_t(op.getStrides().size());
  return {size, op.getStrides()[size_t(spatial)], op.getDilations()[size_t(spatial)], op.getPadding()[size_t(spatial)],
          op.getPadding()[size_t(dims + spatial)]};
}

// A window that reaches over the end finds there what it finds in the padding.
LogicalResult LengthRules::visitWindows(Operation *op) {
  SmallVector<Place> places;
  SmallVector<ResultLength> outputs;
  SmallVector<bool> reachOver;
  bool channelsLast = false;
  if (auto conv = dyn_cast<ir::ConvOp>(op)) channelsLast = conv.getChannelsLast();
  if (auto pool = dyn_cast<ir::PoolOp>(op)) channelsLast = pool.getChannelsLast();
  int64_t rank = tensorOf(op->getOperand(0)).getRank();
  for (int64_t dim = 1; dim < rank; ++dim) {
    if (!grows(op->getOperand(0), dim) || dim == (channelsLast ? rank - 1 : 1)) continue;
    int64_t spatial = channelsLast ? dim - 1 : dim - 2;
    Length length = of(op->getOperand(0))[size_t(dim)];
    places.push_back({0, dim});
    if (auto conv = dyn_cast<ir::ConvTransposeOp>(op)) {
      Window window = windowOf(conv, conv.getFilter().getType().getDimSize(spatial + 2), spatial);
      Length last = length.plus(-1).times(window.stride); // the first element of the last window
      if (last.at(programs.last()) < 0) return refuse(op) << "its stride does not divide what grows";
      outputs.push_back({0, dim,
                         last.plus((window.size - 1) * window.dilation + 1 + conv.getOutputPadding()[size_t(spatial)] -
                                   window.low - window.high)});
      reachOver.push_back(true);
      continue;
    }
    Window window;
    if (auto conv = dyn_cast<ir::ConvOp>(op))
      window = windowOf(conv, conv.getFilter().getType().getDimSize(spatial + 2), spatial);
    else
      window = windowOf(cast<ir::PoolOp>(op), cast<ir::PoolOp>(op).getWindow()[size_t(spatial)], spatial);
    outputs.push_back({0, dim, window.outputs(length)});
    reachOver.push_back(window.high > 0);
  }
  if (failed(followRule(op, places, outputs))) return failure();
  auto pool = dyn_cast<ir::PoolOp>(op);
  Neutral fill = !pool                                   ? Neutral::zero
                 : pool.getKind() == ir::ReduceKind::max ? Neutral::lowest
                                                         : Neutral::negativeZero;
  for (auto [place, reaches] : llvm::zip_equal(places, reachOver))
    if (reaches) maskOperand(op, place, fill);
  return success();
}

// The layers know sequences of several lengths themselves.
LogicalResult LengthRules::visitRecurrent(Operation *op) {
  Value input = op->getOperand(0);
  bool stepsGrow = grows(input, 0);
  // Rows of a layer that rounds its state share the state's range: those that nobody gave are zeros, and have no steps.
  auto rounding = dyn_cast<ir::LstmIntegerOp>(op);
  bool rowsGrow = rounding && grows(input, 1);
  if (!stepsGrow && !rowsGrow) return passesAll(op) ? followRule(op) : programs.decompose();
  SmallVector<Place> done;
  SmallVector<ResultLength> given;
  if (stepsGrow) {
    done.push_back({0, 0});
    given.push_back({0, 0, of(input)[0]});
  }
  Length rows = of(input)[1];
  auto set = [&](auto layer) -> LogicalResult {
    OpBuilder builder(op);
    ir::Expression e(builder, op->getLoc());
    Value ofRows = layer.getLengths();
    if (!ofRows) {
      int64_t size = ir::Expression::typeOf(input).getDimSize(0);
      Value steps = stepsGrow ? masks.number(e, of(input)[0]) : Masks::integer(e, size);
      auto type = RankedTensorType::get({ir::Expression::typeOf(input).getDimSize(1)}, builder.getI64Type());
      ofRows = ir::BroadcastOp::create(builder, op->getLoc(), type, steps);
    }
    if (rowsGrow) ofRows = masks.mask(e, ofRows, 0, rows, Neutral::zero);
    if (ofRows != layer.getLengths()) {
      lengths[ofRows] = {rows};
      layer.getLengthsMutable().assign(ofRows);
    }
    return followRule(op, done, given);
  };
  if (rowsGrow) {
    for (unsigned result = 0; result < 3; ++result) given.push_back({result, result == 0 ? 1 : 0, rows});
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (int64_t dim = 0; dim < tensorOf(operand).getRank(); ++dim) {
        bool isState = operand == rounding.getInitialH();
        bool isOfRows = operand == input                               ? dim == 1
                        : isState || operand == rounding.getInitialC() ? dim == 0
                                                                       : operand == rounding.getLengths();
        if (!isOfRows) continue;
        done.push_back({unsigned(i), dim});
        if ((operand == input || isState) && grows(operand, dim)) maskOperand(op, {unsigned(i), dim}, Neutral::zero);
      }
    if (!rounding.getLengths()) done.push_back({unsigned(op->getNumOperands()), 0});
  }
  if (auto layer = dyn_cast<ir::RnnOp>(op)) return set(layer);
  if (auto layer = dyn_cast<ir::GruOp>(op)) return set(layer);
  if (rounding) return set(rounding);
  return set(cast<ir::LstmOp>(op));
}

// Steps behind the end carry on what there was.
LogicalResult LengthRules::visitScan(ir::ScanOp op) {
  SmallVector<Place> inputs;
  SmallVector<ResultLength> outputs;
  std::optional<Length> steps;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    if (!grows(op.getInputs()[i], 0)) continue;
    inputs.push_back({i, 0});
    steps = of(op.getInputs()[i])[0];
  }
  if (!steps) return visitRegions(op);
  for (Value input : op.getInputs())
    if (of(input)[0] != *steps) return refuse(op) << "its inputs have different numbers of steps";
  if (checksInside(op)) return refuse(op) << "its steps check indices or divisors";
  unsigned carried = op.getNumCarried();
  for (unsigned i = carried; i < op.getNumResults(); ++i) outputs.push_back({i, 0, *steps});
  if (failed(followRule(op, inputs, outputs))) return failure();
  bool isLastRead = llvm::any_of(op.getResults().take_front(carried), [](Value last) { return !last.use_empty(); });
  if (!isLastRead && !op.getReverse()) return success(); // nothing comes back from behind the end

  OpBuilder builder(op);
  ir::Expression outer(builder, op.getLoc());
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  Value places = Masks::places(outer, int64_t(op.getSteps())), end = masks.number(outer, *steps);
  Value place = op.getStep().insertArgument(op.getNumInputs(), scalar, op.getLoc());
  Value endInside = op.getStep().addArgument(scalar, op.getLoc());
  op.getInputsMutable().append(places);
  op.getInvariantsMutable().append(end);
  Operation *yield = op.getStep().getTerminator();
  builder.setInsertionPoint(yield);
  ir::Expression inner(builder, op.getLoc());
  Value isThere = inner.compare(ir::ComparePredicate::lt, place, endInside);
  for (auto [i, before] : llvm::enumerate(op.getCarriedArguments()))
    yield->setOperand(unsigned(i), inner.select(isThere, yield->getOperand(unsigned(i)), before));
  return success();
}

} // namespace sprig
