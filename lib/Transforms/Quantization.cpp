#include "lib/Transforms/Quantization.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;

namespace sprig::quantization {

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

std::optional<std::vector<double>> numbersOf(Value value) {
  auto constant = value ? value.getDefiningOp<ir::ConstantOp>() : ir::ConstantOp();
  std::string reason;
  if (!constant || !ir::isReadableConstant(constant.getValue(), reason)) return std::nullopt;
  ir::ConstantView view(constant.getValue());
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
    auto factors = numbersOf(rescale.getRhs()), scales = numbersOf(bias.getScale()), zeros = numbersOf(bias.getZero());
    if (!factors || !scales || !zeros || llvm::any_of(*zeros, [](double zero) { return zero != 0; })) continue;
    if (tensorOf(add.getResult()) != tensorOf(rescale.getResult())) continue;
    int64_t places = tensorOf(bias.getOperand()).getNumElements();
    // Scales that tools write are products in f32, rounded once or twice.
    constexpr double kRounding = 1e-6;
    bool same = (places == 1 || scales->size() == 1 || int64_t(scales->size()) == places) &&
                (factors->size() == 1 || scales->size() == factors->size() || scales->size() == 1);
    for (size_t i = 0; same && i < std::max(factors->size(), scales->size()); ++i) {
      double factor = (*factors)[i % factors->size()], scale = (*scales)[i % scales->size()];
      same = std::abs(factor - scale) <= kRounding * std::abs(factor);
    }
    if (!same) continue;
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

namespace {
/// Follows a quantisation of one scale back through what is only used by it.
class Backwards {
public:
  Backwards(ir::QuantizeOp quantize, double scale, double zero)
      : b(quantize), e(b, quantize.getLoc()), integer(tensorOf(quantize.getZero()).getElementType()), scale(scale),
        zero(zero) {}

  /// The integers that a value is made of by moves and maxima alone, with this scale and zero point; null for others.
  Value integers(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) return {};
    if (auto dequantize = dyn_cast<ir::DequantizeOp>(op)) {
      bool same = tensorOf(dequantize.getOperand()).getElementType() == integer &&
                  numberOf(dequantize.getScale()) == scale && numberOf(dequantize.getZero()) == zero;
      return same ? dequantize.getOperand() : Value();
    }
    auto pool = dyn_cast<ir::PoolOp>(op);
    bool moves = isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp, ir::ConcatOp, ir::ReluOp>(op) ||
                 (pool && pool.getKind() == ir::ReduceKind::max);
    if (!moves) return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(integers(operand));
      if (!operands.back()) return {};
    }
    auto type = RankedTensorType::get(tensorOf(value).getShape(), integer);
    if (isa<ir::ReluOp>(op)) return e.binary<ir::MaxOp>(operands[0], e.splat(operands[0], zero));
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    Operation *clone = b.clone(*op, mapping);
    clone->getResult(0).setType(type);
    return clone->getResult(0);
  }

  /// value / scale, with the scale in constants; what others read too is multiplied as it is.
  Value divided(Value value) {
    if (auto numbers = numbersOf(value)) return dividedConstant(value, *numbers);
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse()) return e.mul(value, e.splat(value, 1 / scale));
    if (auto mul = dyn_cast<ir::MulOp>(op))
      for (unsigned side : {0u, 1u})
        if (auto numbers = numbersOf(mul.getOperand(side)))
          return e.mul(mul.getOperand(1 - side), dividedConstant(mul.getOperand(side), *numbers));
    if (auto add = dyn_cast<ir::AddOp>(op)) return e.add(divided(add.getLhs()), divided(add.getRhs()));
    if (auto relu = dyn_cast<ir::ReluOp>(op)) return e.unary<ir::ReluOp>(divided(relu.getOperand()));
    if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
      return e.reshape(divided(reshape.getOperand()), tensorOf(value).getShape());
    if (auto dequantize = dyn_cast<ir::DequantizeOp>(op))
      if (auto numbers = numbersOf(dequantize.getScale()))
        return ir::DequantizeOp::create(b, e.loc, dequantize.getOperand(),
                                        dividedConstant(dequantize.getScale(), *numbers), dequantize.getZero());
    return e.mul(value, e.splat(value, 1 / scale));
  }

  ir::Expression &expression() { return e; }

private:
  Value dividedConstant(Value model, std::vector<double> numbers) {
    for (double &number : numbers) number /= scale;
    return e.constant(tensorOf(model).getShape(), tensorOf(model).getElementType(), numbers);
  }

  OpBuilder b;
  ir::Expression e;
  Type integer;
  double scale, zero;
};
} // namespace

void simplifyQuantize(ir::QuantizeOp quantize) {
  auto scale = numberOf(quantize.getScale()), zero = numberOf(quantize.getZero());
  if (!scale || !zero || !(*scale > 0)) return;
  Backwards backwards(quantize, *scale, *zero);
  if (Value integers = backwards.integers(quantize.getOperand())) {
    quantize.getResult().replaceAllUsesWith(integers);
    quantize.erase();
    return;
  }
  Value operand = quantize.getOperand();
  // The lowest number is where a quantisation ends anyway.
  auto type = cast<IntegerType>(tensorOf(quantize.getResult()).getElementType());
  double lowest = type.isUnsigned() ? 0 : -double(uint64_t(1) << (type.getWidth() - 1));
  if (auto relu = operand.getDefiningOp<ir::ReluOp>(); relu && *zero == lowest) operand = relu.getOperand();
  ir::Expression &e = backwards.expression();
  bool isWorth = *scale != 1;
  if (isWorth) operand = backwards.divided(operand);
  quantize.getOperandMutable().assign(operand);
  if (isWorth) quantize.getScaleMutable().assign(e.splat(operand, 1));
}

} // namespace sprig::quantization
