// The integer-products pass: what lies between dequantisation and quantisation, on integers.
#define GEN_PASS_DEF_INTEGERPRODUCTS
#include "lib/Transforms/Passes.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNQuantized.h"
#include "lib/Transforms/Quantization.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;
using quantization::isConstant;
using quantization::numbersOf;
using quantization::scalarOf;

static bool isByte(Value value) { return tensorOf(value).getElementType().isInteger(8); }
static bool isOne(Value value) { return tensorOf(value).getNumElements() == 1; }

/// One number, or one for each place of a dimension.
static bool isPerPlace(Value parameter, int64_t places, int64_t dimsBehind) {
  if (isOne(parameter)) return true;
  RankedTensorType type = tensorOf(parameter);
  int64_t dim = type.getRank() - 1 - dimsBehind;
  return type.getNumElements() == places && dim >= 0 && type.getDimSize(dim) == places;
}

/// What keeps a product of two dequantised operands in floats, or nothing. Outputs lie in dimension `output` of the
/// right side.
static std::string obstacle(ir::DequantizeOp left, ir::DequantizeOp right, int64_t output) {
  if (!isByte(left.getOperand()) || !isByte(right.getOperand())) return "its operands are no bytes";
  if (!tensorOf(left.getResult()).getElementType().isF32()) return "its floats are no f32";
  if (!isConstant(right.getOperand())) return "its right side is no constant";
  if (!isOne(left.getScale()) || !isOne(left.getZero())) return "its left side has several scales";
  if (!isConstant(left.getScale()) || !isConstant(left.getZero()) || !isConstant(right.getScale()) ||
      !isConstant(right.getZero()))
    return "scales or zero points are no constants";
  RankedTensorType weight = tensorOf(right.getOperand());
  int64_t outputs = weight.getDimSize(output), behind = weight.getRank() - 1 - output;
  if (!isPerPlace(right.getScale(), outputs, behind) || !isPerPlace(right.getZero(), outputs, behind))
    return "its right side has several scales for an output";
  // No sum of products leaves 32 bits.
  constexpr int64_t kDeepest = ((int64_t(1) << 31) - 1) / (255 * 255);
  int64_t depth = outputs ? weight.getNumElements() / outputs : 0;
  if (depth > kDeepest) return "sums of " + std::to_string(depth) + " products of bytes may not fit into 32 bits";
  return {};
}

namespace {
class Rewriter {
public:
  explicit Rewriter(func::FuncOp function) : function(function) {}

  void run() {
    function.walk([](ir::SelectOp select) { quantization::fillWithIntegers(select); });
    function.walk([](Operation *op) { quantization::averageIntegers(op); });
    SmallVector<Operation *> products;
    function.walk([&](Operation *op) {
      if (isa<ir::LinearOp, ir::MatmulOp, ir::ConvOp>(op) && dequantized(op->getOperand(0)) &&
          (dequantized(op->getOperand(1)) || (isa<ir::MatmulOp>(op) && turned(op->getOperand(1)))))
        products.push_back(op);
    });
    for (Operation *op : products) rewriteProduct(op);
    function.walk([](ir::AddOp op) { quantization::addBiasAsInteger(op); });
    function.walk([](ir::QuantizeOp op) { quantization::simplifyQuantize(op); });
  }

private:
  static ir::DequantizeOp dequantized(Value value) { return value.getDefiningOp<ir::DequantizeOp>(); }

  /// A dequantised matrix behind a transpose.
  static ir::DequantizeOp turned(Value value) {
    auto transpose = value.getDefiningOp<ir::TransposeOp>();
    if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>{1, 0}) return {};
    return dequantized(transpose.getOperand());
  }

  void rewriteProduct(Operation *op) {
    if (auto linear = dyn_cast<ir::LinearOp>(op)) {
      auto left = dequantized(linear.getOperand()), right = dequantized(linear.getWeight());
      if (tensorOf(linear.getOperand()).getRank() < 2 || !mayRewrite(op, left, right, 0)) return;
      OpBuilder b(op);
      ir::Expression e(b, op->getLoc());
      Value product = rescaled(e, multiply(e, left, right, /*transposed=*/true), left, right, 1);
      if (linear.getBias()) product = e.add(product, linear.getBias());
      return replace(op, product);
    }
    auto left = dequantized(op->getOperand(0)), right = dequantized(op->getOperand(1));
    OpBuilder b(op);
    ir::Expression e(b, op->getLoc());
    if (auto matmul = dyn_cast<ir::MatmulOp>(op)) {
      bool transposed = matmul.getTransposeRhs();
      if (!right) right = turned(matmul.getRhs()), transposed = !transposed;
      if (tensorOf(matmul.getRhs()).getRank() != 2 || matmul.getTransposeLhs()) return;
      if (!mayRewrite(op, left, right, transposed ? 0 : 1)) return;
      return replace(op, rescaled(e, multiply(e, left, right, transposed), left, right, 1));
    }
    auto conv = cast<ir::ConvOp>(op);
    if (conv.getChannelsLast() || !mayRewrite(op, left, right, 0)) return;
    Value zero = isOne(right.getZero()) ? scalarOf(b, right.getZero()) : right.getZero();
    Value sums =
        ir::ConvIntegerOp::create(b, op->getLoc(), left.getOperand(), right.getOperand(), scalarOf(b, left.getZero()),
                                  zero, conv.getStrides(), conv.getDilations(), conv.getPadding(), conv.getGroups());
    replace(op, rescaled(e, sums, left, right, tensorOf(sums).getRank() - 1));
  }

  static Value multiply(ir::Expression &e, ir::DequantizeOp left, ir::DequantizeOp right, bool transposed) {
    Value zero = right.getZero();
    if (isOne(zero)) zero = scalarOf(e.b, zero);
    return ir::MatmulIntegerOp::create(e.b, e.loc, left.getOperand(), right.getOperand(), scalarOf(e.b, left.getZero()),
                                       zero, transposed);
  }

  /// Sums as floats, times both scales; outputs lie in the first of the last `trailing` dimensions.
  static Value rescaled(ir::Expression &e, Value sums, ir::DequantizeOp left, ir::DequantizeOp right,
                        int64_t trailing) {
    Type f32 = e.b.getF32Type();
    std::vector<double> scales = *numbersOf(right.getScale());
    double activation = numbersOf(left.getScale())->front();
    for (double &scale : scales) scale = float(float(scale) * float(activation));
    SmallVector<int64_t> shape;
    if (scales.size() > 1) shape.assign(size_t(trailing), 1), shape[0] = int64_t(scales.size());
    return e.mul(e.cast(sums, f32), e.constant(shape, f32, scales));
  }

  static bool mayRewrite(Operation *op, ir::DequantizeOp left, ir::DequantizeOp right, int64_t output) {
    std::string why = obstacle(left, right, output);
    if (!why.empty())
      remark::missed(op->getLoc(), remark::RemarkOpts::name("integer-product").category("fuse"))
          << "the product of quantised tensors stays in floats: " << why;
    return why.empty();
  }

  static void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  func::FuncOp function;
};

struct IntegerProductsPass : sprig::impl::IntegerProductsBase<IntegerProductsPass> {
  void runOnOperation() override { Rewriter(getOperation()).run(); }
};
} // namespace
