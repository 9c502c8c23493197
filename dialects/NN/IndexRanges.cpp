// Which integers operations can work with: those that take indices, and those that move integers or reckon with them.
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/ExternalModels.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/StridedView.h"
#include "mlir/IR/Matchers.h"
#include <optional>

using namespace mlir;

namespace sprig::ir {
namespace {

// Indices below zero count from the end: those above reach all.
IntegerRange indexBelow(int64_t size) { return {0, std::max<int64_t>(size - 1, 0)}; }

// Whichever elements they come from.
void narrowAny(IndexRanges &ranges, Value from, Value result) {
  if (!ranges.of(result).empty()) ranges.narrow(from, commonRange(ranges.of(result)));
}

void narrowOperands(GatherOp op, IndexRanges &ranges) {
  ranges.narrow(op.getIndices(), indexBelow(tensorOf(op.getOperand()).getDimSize(int64_t(op.getAxis()))));
  narrowAny(ranges, op.getOperand(), op.getResult());
}
void narrowOperands(GatherElementsOp op, IndexRanges &ranges) {
  ranges.narrow(op.getIndices(), indexBelow(tensorOf(op.getOperand()).getDimSize(int64_t(op.getAxis()))));
  narrowAny(ranges, op.getOperand(), op.getResult());
}

// Each place of a tuple is along a dimension of its own.
void narrowTuples(IndexRanges &ranges, Value indices, ArrayRef<int64_t> sizes) {
  RankedTensorType type = tensorOf(indices);
  std::vector<IntegerRange> all;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    all.push_back(indexBelow(sizes[size_t(i % type.getShape().back())]));
  if (llvm::all_equal(sizes.take_front(size_t(type.getShape().back())))) all.resize(std::min<size_t>(all.size(), 1));
  ranges.narrow(indices, all);
}
void narrowOperands(GatherNdOp op, IndexRanges &ranges) {
  narrowTuples(ranges, op.getIndices(), tensorOf(op.getOperand()).getShape().drop_front(op.getBatchDims()));
  narrowAny(ranges, op.getOperand(), op.getResult());
}

void narrowOperands(ScatterElementsOp op, IndexRanges &ranges) {
  ranges.narrow(op.getIndices(), indexBelow(tensorOf(op.getOperand()).getDimSize(int64_t(op.getAxis()))));
  if (op.getKind() != ScatterKind::none) return;
  for (Value from : {op.getOperand(), op.getUpdates()}) narrowAny(ranges, from, op.getResult());
}
void narrowOperands(ScatterNdOp op, IndexRanges &ranges) {
  narrowTuples(ranges, op.getIndices(), tensorOf(op.getOperand()).getShape());
  if (op.getKind() != ScatterKind::none) return;
  for (Value from : {op.getOperand(), op.getUpdates()}) narrowAny(ranges, from, op.getResult());
}

void narrowOperands(ClassIndexOp op, IndexRanges &ranges) {
  ranges.narrow(op.getOperand(), indexBelow(int64_t(op.getClasses())));
  ranges.narrow(op.getOperand(), ranges.of(op.getResult()));
}
template <typename LossOp> void narrowTargets(LossOp op, IndexRanges &ranges) {
  ranges.narrow(op.getTargets(), indexBelow(tensorOf(op.getOperand()).getShape().back()));
}
void narrowOperands(CrossEntropyOp op, IndexRanges &ranges) { narrowTargets(op, ranges); }
void narrowOperands(NllLossOp op, IndexRanges &ranges) { narrowTargets(op, ranges); }

// Integers of another width.
void narrowOperands(CastOp op, IndexRanges &ranges) { ranges.narrow(op.getOperand(), ranges.of(op.getResult())); }

// The place of element i of a row-major shape, by a stride for each of its dimensions.
int64_t placeOf(int64_t i, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t place = 0;
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) place += i % shape[d] * strides[d];
  return place;
}

// The operand has a stride for each dimension of the result. `range` is that of IndexRanges::narrowPlaces.
void narrowStrided(IndexRanges &ranges, Value operand, Value result, int64_t offset, ArrayRef<int64_t> strides,
                   llvm::function_ref<IntegerRange(IntegerRange, int64_t)> range = {}) {
  ArrayRef<int64_t> shape = tensorOf(result).getShape();
  ranges.narrowPlaces(operand, result, [&](int64_t i) { return offset + placeOf(i, shape, strides); }, range);
}
void narrowOperands(TransposeOp op, IndexRanges &ranges) {
  SmallVector<int64_t> own = rowMajorStrides(tensorOf(op.getOperand()).getShape()), strides;
  for (int64_t dim : op.getPermutation()) strides.push_back(own[size_t(dim)]);
  narrowStrided(ranges, op.getOperand(), op.getResult(), 0, strides);
}
void narrowOperands(SliceOp op, IndexRanges &ranges) {
  SmallVector<int64_t> strides = rowMajorStrides(tensorOf(op.getOperand()).getShape());
  int64_t offset = 0;
  for (auto [stride, start, step] : llvm::zip_equal(strides, op.getStarts(), op.getSteps())) {
    offset += start * stride;
    stride *= step;
  }
  narrowStrided(ranges, op.getOperand(), op.getResult(), offset, strides);
}

// Strides of an operand along the dimensions of what it broadcasts to.
SmallVector<int64_t> broadcastStrides(Value operand, Value result) {
  ArrayRef<int64_t> own = tensorOf(operand).getShape();
  SmallVector<int64_t> strides(size_t(tensorOf(result).getRank()) - own.size(), 0);
  for (auto [size, stride] : llvm::zip_equal(own, rowMajorStrides(own))) strides.push_back(size == 1 ? 0 : stride);
  return strides;
}
void narrowOperands(BroadcastOp op, IndexRanges &ranges) {
  narrowStrided(ranges, op.getOperand(), op.getResult(), 0, broadcastStrides(op.getOperand(), op.getResult()));
}

void narrowOperands(ConcatOp op, IndexRanges &ranges) {
  ArrayRef<IntegerRange> wanted = ranges.of(op.getResult());
  if (wanted.empty()) return;
  // The map may move while operands are narrowed.
  std::vector<IntegerRange> all(wanted.begin(), wanted.end());
  RankedTensorType type = tensorOf(op.getResult());
  int64_t axis = int64_t(op.getAxis()), inner = llvm::product_of(type.getShape().drop_front(axis + 1)), before = 0;
  for (Value operand : op.getOperands()) {
    int64_t row = tensorOf(operand).getDimSize(axis) * inner, count = tensorOf(operand).getNumElements();
    std::vector<IntegerRange> own;
    for (int64_t i = 0; all.size() > 1 && i < count; ++i)
      own.push_back(all[size_t(i / row * type.getDimSize(axis) * inner + before + i % row)]);
    ranges.narrow(operand, all.size() > 1 ? own : all);
    before += row;
  }
}

// An integer that is known when compiling, for each element of the result.
using KnownAt = std::function<int64_t(int64_t)>;
std::optional<KnownAt> knownIntegers(IndexRanges &ranges, Value value, Value result) {
  ElementsAttr attribute;
  std::string reason;
  if (!matchPattern(ranges.sourceOf(value), m_Constant(&attribute)) || !isReadableConstant(attribute, reason) ||
      !isa<IntegerType>(attribute.getElementType()))
    return std::nullopt;
  auto view = std::make_shared<ConstantView>(attribute);
  SmallVector<int64_t> strides = broadcastStrides(value, result), shape(tensorOf(result).getShape());
  return [=](int64_t i) { return view->asInt64(placeOf(i, shape, strides)); };
}

// `range`: what an operand may be, by what the result may be and the other operand's integer.
void narrowBeside(Operation *op, IndexRanges &ranges, unsigned operand,
                  llvm::function_ref<IntegerRange(IntegerRange, int64_t)> range) {
  Value result = op->getResult(0), value = op->getOperand(operand);
  if (ranges.of(result).empty()) return;
  std::optional<KnownAt> known = knownIntegers(ranges, op->getOperand(1 - operand), result);
  if (!known) return;
  narrowStrided(ranges, value, result, 0, broadcastStrides(value, result),
                [&](IntegerRange wanted, int64_t i) { return range(wanted, (*known)(i)); });
}

void narrowOperands(AddOp op, IndexRanges &ranges) {
  for (unsigned i : {0, 1})
    narrowBeside(op, ranges, i, [](IntegerRange sum, int64_t other) { return sum.before(other); });
}
void narrowOperands(SubOp op, IndexRanges &ranges) {
  narrowBeside(op, ranges, 1, [](IntegerRange difference, int64_t from) {
    IntegerRange negated{difference.high == IntegerRange::kHighest ? IntegerRange::kLowest : -difference.high,
                         difference.low == IntegerRange::kLowest ? IntegerRange::kHighest : -difference.low};
    return from == IntegerRange::kLowest ? IntegerRange() : negated.before(-from);
  });
  narrowBeside(op, ranges, 0, [](IntegerRange difference, int64_t other) {
    return other == IntegerRange::kLowest ? IntegerRange() : difference.before(-other);
  });
}
void narrowOperands(MulOp op, IndexRanges &ranges) {
  for (unsigned i : {0, 1})
    narrowBeside(op, ranges, i, [](IntegerRange product, int64_t factor) {
      if (factor < 1) return IntegerRange();
      auto quotient = [&](int64_t value, bool up) {
        return value / factor + (value % factor > 0 && up) - (value % factor < 0 && !up);
      };
      if (product.low != IntegerRange::kLowest) product.low = quotient(product.low, true);
      if (product.high != IntegerRange::kHighest) product.high = quotient(product.high, false);
      return product;
    });
}
// Beyond the other operand all integers do the same: what is up to it reaches all that the result may be.
void narrowOperands(MaxOp op, IndexRanges &ranges) {
  for (unsigned i : {0, 1})
    narrowBeside(op, ranges, i, [](IntegerRange larger, int64_t other) {
      return IntegerRange{std::max(larger.low, other), std::max(larger.high, other)};
    });
}
void narrowOperands(MinOp op, IndexRanges &ranges) {
  for (unsigned i : {0, 1})
    narrowBeside(op, ranges, i, [](IntegerRange smaller, int64_t other) {
      return IntegerRange{std::min(smaller.low, other), std::min(smaller.high, other)};
    });
}
// Integers below the divisor are their own remainders.
template <typename RemainderOp> void narrowDividend(RemainderOp op, IndexRanges &ranges) {
  narrowBeside(op, ranges, 0, [](IntegerRange remainder, int64_t divisor) {
    return divisor < 1 ? IntegerRange() : remainder.within(indexBelow(divisor));
  });
}
void narrowOperands(ModOp op, IndexRanges &ranges) { narrowDividend(op, ranges); }
void narrowOperands(RemOp op, IndexRanges &ranges) { narrowDividend(op, ranges); }
void narrowOperands(SelectOp op, IndexRanges &ranges) {
  for (Value value : op->getOperands().drop_front())
    narrowStrided(ranges, value, op.getResult(), 0, broadcastStrides(value, op.getResult()));
}

// Regions see arguments, which are what the loop is given, or values around them.
void narrowOperands(ScanOp op, IndexRanges &ranges) {
  for (auto [argument, value] : llvm::zip_equal(op.getInvariantArguments(), op.getInvariants()))
    ranges.bind(argument, value);
  ranges.visit(op.getStep());
  for (auto [argument, value] : llvm::zip_equal(op.getInvariantArguments(), op.getInvariants()))
    ranges.narrow(value, ranges.of(argument));
  for (auto [argument, value] : llvm::zip_equal(op.getInputArguments(), op.getInputs()))
    narrowAny(ranges, value, argument);
  for (auto [argument, value] : llvm::zip_equal(op.getCarriedArguments(), op.getInitial()))
    narrowAny(ranges, value, argument);
}
template <typename ControlOp> void visitRegions(ControlOp op, IndexRanges &ranges) {
  for (Region &region : op->getRegions())
    for (Block &block : region) ranges.visit(block);
}
void narrowOperands(CondOp op, IndexRanges &ranges) { visitRegions(op, ranges); }
void narrowOperands(WhileOp op, IndexRanges &ranges) { visitRegions(op, ranges); }

template <typename OpT> struct RangeModel : IndexRangeOpInterface::ExternalModel<RangeModel<OpT>, OpT> {
  void narrowOperands(Operation *op, IndexRanges &ranges) const { ir::narrowOperands(cast<OpT>(op), ranges); }
};
template <typename... OpTs> void attachRanges(MLIRContext *context) {
  (OpTs::template attachInterface<RangeModel<OpTs>>(*context), ...);
}

} // namespace

void attachIndexRanges(MLIRContext *context) {
  attachRanges<AddOp, BroadcastOp, CastOp, ClassIndexOp, ConcatOp, CondOp, CrossEntropyOp, GatherElementsOp, GatherNdOp,
               GatherOp, MaxOp, MinOp, ModOp, MulOp, NllLossOp, RemOp, ScanOp, ScatterElementsOp, ScatterNdOp, SelectOp,
               SliceOp, SubOp, TransposeOp, WhileOp>(context);
}

} // namespace sprig::ir
