#include "lib/Transforms/Quantization.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNComposite.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;

namespace sprig::quantization {

bool isConstant(Value value) {
  auto constant = value ? value.getDefiningOp<ir::ConstantOp>() : ir::ConstantOp();
  std::string reason;
  return constant && ir::isReadableConstant(constant.getValue(), reason);
}

Value scalarOf(OpBuilder &b, Value value) {
  if (tensorOf(value).getRank() == 0) return value;
  ir::ConstantView view(value.getDefiningOp<ir::ConstantOp>().getValue());
  auto type = RankedTensorType::get({}, view.elementType());
  return ir::ConstantOp::create(b, value.getLoc(), type, ir::makeConstant(type, view.bytes()));
}

std::optional<std::vector<double>> numbersOf(Value value) {
  if (!isConstant(value)) return std::nullopt;
  ir::ConstantView view(value.getDefiningOp<ir::ConstantOp>().getValue());
  std::vector<double> numbers(size_t(view.size()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = view.asDouble(int64_t(i));
  return numbers;
}

/// The only number of a constant.
static std::optional<double> numberOf(Value value) {
  if (!value || tensorOf(value).getNumElements() != 1) return std::nullopt;
  auto numbers = numbersOf(value);
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

static bool isF32(Value value) { return tensorOf(value).getElementType().isF32(); }

/// The only dimension of a size other than 1, counted from the back; -1 where there is none, nothing where there are
/// several.
static std::optional<int64_t> onlyDimension(Value value) {
  int64_t found = -1, rank = tensorOf(value).getRank();
  for (auto [d, size] : llvm::enumerate(tensorOf(value).getShape())) {
    if (size == 1) continue;
    if (found >= 0) return std::nullopt;
    found = rank - 1 - int64_t(d);
  }
  return found;
}

/// Whether a bias that is dequantised with these scales has the scales of a product: in its dimension, and up to
/// rounding (tools write products in f32, rounded once or twice).
static bool haveOneScale(Value factor, Value bias, ir::DequantizeOp dequantize) {
  auto factors = numbersOf(factor), scales = numbersOf(dequantize.getScale());
  auto factorDim = onlyDimension(factor), biasDim = onlyDimension(bias), own = onlyDimension(dequantize.getOperand());
  if (!factors || !scales || !factorDim || !biasDim || !own) return false;
  bool several = factors->size() > 1 || scales->size() > 1;
  int64_t places = tensorOf(dequantize.getOperand()).getNumElements();
  if (several && scales->size() > 1 && int64_t(scales->size()) != places) return false;
  if (factors->size() > 1 && (*factorDim != *biasDim || int64_t(factors->size()) != places)) return false;
  constexpr double kRounding = 1e-6;
  for (size_t i = 0; i < std::max(factors->size(), scales->size()); ++i) {
    double expected = (*factors)[i % factors->size()], scale = (*scales)[i % scales->size()];
    if (!(std::abs(expected - scale) <= kRounding * std::abs(expected))) return false;
  }
  return true;
}

/// Whether sums of products with a bias of integers stay within 32 bits.
static bool fitsWithBias(Operation *product, Value bias) {
  auto numbers = numbersOf(bias);
  int64_t elements = tensorOf(product->getResult(0)).getNumElements();
  if (!numbers || elements == 0) return false;
  double largest = 0, depth = double(cast<CostOpInterface>(product).getFlops()) / 2 / double(elements);
  for (double number : *numbers) largest = std::max(largest, std::abs(number));
  return largest + depth * 255 * 255 < 0x1p31;
}

/// A value in front of reshapes.
static Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ir::ReshapeOp>()) value = reshape.getOperand();
  return value;
}

void addBiasAsInteger(ir::AddOp add) {
  for (unsigned side : {0u, 1u}) {
    auto rescale = add.getOperand(side).getDefiningOp<ir::MulOp>();
    auto bias = behindReshapes(add.getOperand(1 - side)).getDefiningOp<ir::DequantizeOp>();
    if (!rescale || !bias || !rescale->hasOneUse() || !tensorOf(bias.getOperand()).getElementType().isInteger(32))
      continue;
    auto sums = rescale.getLhs().getDefiningOp<ir::CastOp>();
    if (!sums || !sums.getOperand().getDefiningOp() ||
        !isa<ir::ConvIntegerOp, ir::MatmulIntegerOp>(sums.getOperand().getDefiningOp()))
      continue;
    auto zeros = numbersOf(bias.getZero());
    if (!zeros || llvm::any_of(*zeros, [](double zero) { return zero != 0; })) continue;
    if (tensorOf(add.getResult()) != tensorOf(rescale.getResult()) || !isF32(add.getResult())) continue;
    if (!haveOneScale(rescale.getRhs(), add.getOperand(1 - side), bias)) continue;
    if (!fitsWithBias(sums.getOperand().getDefiningOp(), bias.getOperand())) continue;
    OpBuilder b(add);
    ir::Expression e(b, add.getLoc());
    Value integers = e.reshape(bias.getOperand(), tensorOf(add.getOperand(1 - side)).getShape());
    Value sum = e.add(sums.getOperand(), integers);
    Value result = e.mul(e.cast(sum, tensorOf(sums.getResult()).getElementType()), rescale.getRhs());
    add.getResult().replaceAllUsesWith(result);
    add.erase();
    return;
  }
}

void fillWithIntegers(ir::SelectOp select) {
  auto dequantize = select.getOnTrue().getDefiningOp<ir::DequantizeOp>();
  if (!dequantize) return;
  auto fill = numbersOf(select.getOnFalse());
  if (!fill || llvm::any_of(*fill, [](double number) { return number != 0; })) return;
  if (tensorOf(dequantize.getResult()) != tensorOf(select.getResult()) || !numberOf(dequantize.getZero()) ||
      !numberOf(dequantize.getScale()))
    return;
  OpBuilder b(select);
  ir::Expression e(b, select.getLoc());
  Value zero = scalarOf(b, dequantize.getZero());
  Value filled = e.select(select.getCondition(), dequantize.getOperand(), zero);
  Value result = ir::DequantizeOp::create(b, e.loc, filled, dequantize.getScale(), dequantize.getZero());
  select.getResult().replaceAllUsesWith(result);
  select.erase();
}

/// Sums over windows of bytes, each less their zero point: a convolution of each channel with ones.
static Value windowSums(ir::Expression &e, ir::AvgPoolOp pool, Value bytes, Value zero) {
  SmallVector<int64_t> filter{tensorOf(bytes).getDimSize(1), 1};
  llvm::append_range(filter, pool.getWindow());
  Type i8 = e.b.getI8Type();
  Value ones = ir::createSplat(e.b, e.loc, RankedTensorType::get(filter, i8), 1);
  Value none = ir::createSplat(e.b, e.loc, RankedTensorType::get({}, i8), 0);
  return ir::ConvIntegerOp::create(e.b, e.loc, bytes, ones, scalarOf(e.b, zero), none, pool.getStrides(),
                                   pool.getDilations(), pool.getPadding(), filter[0]);
}

/// Sums of bytes over axes, each less their zero point.
static Value sumsOverAxes(ir::Expression &e, ir::ReduceMeanOp mean, Value bytes, double zero, int64_t count) {
  Value integers = e.cast(bytes, e.b.getI32Type());
  Value sums = e.reduce(ir::ReduceKind::sum, integers, mean.getAxes(), mean.getKeepDims());
  return zero != 0 ? e.sub(sums, e.splat(sums, zero * double(count))) : sums;
}

void averageIntegers(Operation *op) {
  auto pool = dyn_cast<ir::AvgPoolOp>(op);
  if (!pool && !isa<ir::ReduceMeanOp>(op)) return;
  if (pool && llvm::any_of(pool.getPadding(), [](int64_t size) { return size != 0; })) return;
  auto dequantize = op->getOperand(0).getDefiningOp<ir::DequantizeOp>();
  if (!dequantize || !isF32(dequantize.getResult())) return;
  RankedTensorType bytes = tensorOf(dequantize.getOperand());
  auto scale = numberOf(dequantize.getScale()), zero = numberOf(dequantize.getZero());
  int64_t results = tensorOf(op->getResult(0)).getNumElements();
  if (!bytes.getElementType().isInteger(8) || !scale || !zero || results == 0) return;
  int64_t count = pool ? llvm::product_of(pool.getWindow(), int64_t(1)) : bytes.getNumElements() / results;
  // No sum leaves 32 bits.
  constexpr int64_t kMost = ((int64_t(1) << 31) - 1) / 255;
  if (count < 1 || count > kMost) return;
  OpBuilder b(op);
  ir::Expression e(b, op->getLoc());
  Value sums = pool ? windowSums(e, pool, dequantize.getOperand(), dequantize.getZero())
                    : sumsOverAxes(e, cast<ir::ReduceMeanOp>(op), dequantize.getOperand(), *zero, count);
  Value floats = e.cast(sums, b.getF32Type());
  op->getResult(0).replaceAllUsesWith(e.mul(floats, e.splat(floats, *scale / double(count))));
  op->erase();
}

namespace {
/// Follows a quantisation of one scale back through what is only used by it.
class Backwards {
public:
  Backwards(ir::QuantizeOp quantize, double scale, double zero)
      : b(quantize), e(b, quantize.getLoc()), integer(tensorOf(quantize.getZero()).getElementType()), scale(scale),
        zero(zero) {}

  /// Whether a value is made of integers by moves and maxima alone, with this scale and zero point.
  bool isOfIntegers(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op || !isF32(value)) return false;
    if (auto dequantize = dyn_cast<ir::DequantizeOp>(op))
      return tensorOf(dequantize.getOperand()).getElementType() == integer &&
             numberOf(dequantize.getScale()) == scale && numberOf(dequantize.getZero()) == zero;
    auto pool = dyn_cast<ir::PoolOp>(op);
    bool moves = isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp, ir::ConcatOp, ir::ReluOp>(op) ||
                 (pool && pool.getKind() == ir::ReduceKind::max);
    return moves && llvm::all_of(op->getOperands(), [&](Value operand) { return isOfIntegers(operand); });
  }

  /// The same on them.
  Value integers(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto dequantize = dyn_cast<ir::DequantizeOp>(op)) return dequantize.getOperand();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) operands.push_back(integers(operand));
    if (isa<ir::ReluOp>(op)) return e.binary<ir::MaxOp>(operands[0], e.splat(operands[0], zero));
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    Operation *clone = b.clone(*op, mapping);
    clone->getResult(0).setType(RankedTensorType::get(tensorOf(value).getShape(), integer));
    return clone->getResult(0);
  }

  /// value / scale, with the scale in constants where that loses no bits; what others read too is multiplied as it is.
  Value divided(Value value) {
    if (Value constant = dividedConstant(value)) return constant;
    Operation *op = value.getDefiningOp();
    Value whole;
    if (op && op->hasOneUse()) whole = dividedOperands(op);
    return whole ? whole : e.mul(value, e.splat(value, 1 / scale));
  }

  ir::Expression &expression() { return e; }

private:
  /// An operation on operands that are divided; null where that is not known to be the same.
  Value dividedOperands(Operation *op) {
    if (auto mul = dyn_cast<ir::MulOp>(op))
      for (unsigned side : {0u, 1u})
        if (Value constant = dividedConstant(mul.getOperand(side))) return e.mul(mul.getOperand(1 - side), constant);
    if (auto add = dyn_cast<ir::AddOp>(op)) return e.add(divided(add.getLhs()), divided(add.getRhs()));
    if (auto relu = dyn_cast<ir::ReluOp>(op)) return e.unary<ir::ReluOp>(divided(relu.getOperand()));
    if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
      return e.reshape(divided(reshape.getOperand()), tensorOf(reshape.getResult()).getShape());
    if (auto dequantize = dyn_cast<ir::DequantizeOp>(op))
      if (Value constant = dividedConstant(dequantize.getScale()))
        return ir::DequantizeOp::create(b, e.loc, dequantize.getOperand(), constant, dequantize.getZero());
    return {};
  }

  Value dividedConstant(Value model) {
    auto numbers = numbersOf(model);
    if (!numbers) return {};
    for (double &number : *numbers) {
      number /= scale;
      if (number != 0 && !std::isnormal(float(number))) return {};
    }
    return e.constant(tensorOf(model).getShape(), tensorOf(model).getElementType(), *numbers);
  }

  OpBuilder b;
  ir::Expression e;
  Type integer;
  double scale, zero;
};
} // namespace

void simplifyQuantize(ir::QuantizeOp quantize) {
  auto scale = numberOf(quantize.getScale()), zero = numberOf(quantize.getZero());
  if (!scale || !zero || !(*scale > 0) || !isF32(quantize.getOperand())) return;
  Backwards backwards(quantize, *scale, *zero);
  if (backwards.isOfIntegers(quantize.getOperand())) {
    quantize.getResult().replaceAllUsesWith(backwards.integers(quantize.getOperand()));
    quantize.erase();
    return;
  }
  Value operand = quantize.getOperand();
  // The lowest number is where a quantisation ends anyway.
  auto type = cast<IntegerType>(tensorOf(quantize.getResult()).getElementType());
  double lowest = type.isUnsigned() ? 0 : -double(uint64_t(1) << (type.getWidth() - 1));
  if (auto relu = operand.getDefiningOp<ir::ReluOp>(); relu && relu->hasOneUse() && *zero == lowest)
    operand = relu.getOperand();
  ir::Expression &e = backwards.expression();
  // Both of the scale and of what it becomes every bit is there.
  bool isWorth = *scale != 1 && std::isnormal(float(*scale)) && std::isnormal(float(1 / *scale));
  if (isWorth) operand = backwards.divided(operand);
  quantize.getOperandMutable().assign(operand);
  if (isWorth) quantize.getScaleMutable().assign(e.splat(operand, 1));
}

} // namespace sprig::quantization
