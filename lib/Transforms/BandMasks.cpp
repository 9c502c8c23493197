#define GEN_PASS_DEF_BANDMASKS
#include "lib/Transforms/Passes.h"
#include "dialects/NN/AttentionBand.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;
using namespace sprig;

namespace {
/// A matrix of two values, as the bytes of its elements.
struct TwoValues {
  ArrayRef<char> bytes, first, second;
  int64_t rows, columns, elementBytes;

  /// Whether an element is the first value.
  bool isFirst(int64_t row, int64_t column) const {
    return bytes.slice((row * columns + column) * elementBytes, elementBytes) == first;
  }
  /// The first element of a row, from a column on, that is another than the one before it; `columns`: none.
  int64_t nextStep(int64_t row, int64_t column) const {
    bool before = isFirst(row, column);
    while (++column < columns && isFirst(row, column) == before) {
    }
    return column;
  }
};
} // namespace

static std::optional<TwoValues> twoValuesOf(const ir::ConstantView &view, int64_t small) {
  ArrayRef<int64_t> shape = view.type().getShape();
  if (view.isSplat() || shape.size() < 2 || shape.end()[-2] <= small || shape.back() <= small) return std::nullopt;
  if (llvm::any_of(shape.drop_back(2), [](int64_t size) { return size != 1; })) return std::nullopt;
  TwoValues matrix{view.bytes(),    view.element(0), {},
                   shape.end()[-2], shape.back(),    static_cast<int64_t>(view.element(0).size())};
  for (int64_t i = 1; i < view.size(); ++i) {
    ArrayRef<char> element = view.element(i);
    if (element == matrix.first || element == matrix.second) continue;
    if (!matrix.second.empty()) return std::nullopt;
    matrix.second = element;
  }
  if (matrix.second.empty()) return std::nullopt;
  return matrix;
}

/// The band that the first value fills, or all but it (`isInside` false).
static std::optional<ir::Band> bandOf(const TwoValues &matrix, bool isInside) {
  ir::Band band;
  auto isComplete = [&] { return band.lower < ir::Band::kUnbounded && band.upper < ir::Band::kUnbounded; };
  for (int64_t row = 0; row < matrix.rows && !isComplete(); ++row)
    for (int64_t column = 0; (column = matrix.nextStep(row, column)) < matrix.columns;) {
      if (matrix.isFirst(row, column) == isInside) {
        if (band.lower == ir::Band::kUnbounded) band.lower = row - column;
      } else if (band.upper == ir::Band::kUnbounded) {
        band.upper = column - 1 - row;
      }
    }
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t column = 0; column < matrix.columns; ++column) {
      bool inBand = column >= row - band.lower && column <= row + band.upper;
      if ((matrix.isFirst(row, column) == isInside) != inBand) return std::nullopt;
    }
  return band;
}

/// Whether a place is in a band, as a tensor of booleans with this many dimensions.
static Value comparisonOf(OpBuilder &b, Location loc, ir::Band band, const TwoValues &matrix, int64_t rank) {
  Type i32 = b.getI32Type();
  auto iota = [&](int64_t axis, int64_t size) -> Value {
    SmallVector<int64_t> shape(rank, 1);
    shape[axis] = size;
    return ir::IotaOp::create(b, loc, RankedTensorType::get(shape, i32), axis);
  };
  Value row = iota(rank - 2, matrix.rows), column = iota(rank - 1, matrix.columns);
  auto rowPlus = [&](int64_t number) -> Value {
    if (number == 0) return row;
    Value constant = ir::createSplat(b, loc, RankedTensorType::get({}, i32), double(number));
    return ir::AddOp::create(b, loc, row.getType(), row, constant);
  };
  SmallVector<int64_t> shape(rank, 1);
  shape[rank - 2] = matrix.rows, shape[rank - 1] = matrix.columns;
  auto type = RankedTensorType::get(shape, b.getI1Type());
  auto atLeast = [&](Value left, Value right) -> Value {
    return ir::CompareOp::create(b, loc, type, ir::ComparePredicate::ge, left, right);
  };
  Value lower, upper;
  if (band.lower < ir::Band::kUnbounded) lower = atLeast(column, rowPlus(-band.lower));
  if (band.upper < ir::Band::kUnbounded) upper = atLeast(rowPlus(band.upper), column);
  if (lower && upper) return ir::AndOp::create(b, loc, type, lower, upper);
  return lower ? lower : upper;
}

static void computeFromIndices(ir::ConstantOp constant, int64_t small) {
  if (!llvm::all_of(constant->getUsers(), llvm::IsaPred<ElementwiseOpInterface>)) return;
  ir::ConstantView view(constant.getValue());
  std::optional<TwoValues> matrix = twoValuesOf(view, small);
  if (!matrix) return;
  bool isInside = true;
  std::optional<ir::Band> band = bandOf(*matrix, isInside);
  if (!band) band = bandOf(*matrix, isInside = false);
  if (!band) return;
  OpBuilder b(constant);
  Location loc = constant.getLoc();
  Value inBand = comparisonOf(b, loc, *band, *matrix, view.type().getRank()), result = inBand;
  if (view.elementType().isInteger(1)) {
    bool isTrueInside = (matrix->first.front() != 0) == isInside;
    if (!isTrueInside) result = ir::NotOp::create(b, loc, inBand.getType(), inBand);
  } else {
    auto scalar = RankedTensorType::get({}, view.elementType());
    auto splat = [&](ArrayRef<char> element) -> Value {
      return ir::ConstantOp::create(b, loc, ir::makeConstant(scalar, element));
    };
    Value inside = splat(isInside ? matrix->first : matrix->second);
    Value outside = splat(isInside ? matrix->second : matrix->first);
    result = ir::SelectOp::create(b, loc, view.type(), inBand, inside, outside);
  }
  constant.replaceAllUsesWith(result);
  constant.erase();
}

namespace {
struct BandMasksPass : sprig::impl::BandMasksBase<BandMasksPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([&](ir::ConstantOp constant) { computeFromIndices(constant, small); });
  }
};
} // namespace
