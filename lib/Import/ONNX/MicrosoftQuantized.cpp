// Operators of com.microsoft on quantised tensors, as ONNX Runtime's quantiser writes them.
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Microsoft.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Quantized.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

Value matmulOfAnyRank(Node &n, Value a, Value b);
void lstmOfBytes(Node &n);

namespace {

/// A scale or zero point of a whole tensor: one element.
Value realNumber(Node &n, unsigned input, const char *name) {
  Value v = n.in(input);
  n.require(Emit::count(v) == 1 && Emit::rank(v) <= 1,
            std::string("has ") + name + " " + typeText(v) + "; expected one number");
  return n.reshape(v, {});
}
Value numberOr(Node &n, unsigned input, const char *name) {
  return n.has(input) ? realNumber(n, input, name) : Value();
}

/// Inputs i to i + 2 are a tensor, its scale and its zero point.
Value dequantized(Node &n, unsigned i) {
  return dequantize(n, n.in(i), realNumber(n, i + 1, "a scale"), numberOr(n, i + 2, "a zero point"));
}

/// The result in the type of input 0, with the scale and zero point at inputs i and i + 1.
Value requantized(Node &n, Value v, unsigned i) {
  return quantize(n, v, realNumber(n, i, "a scale"), numberOr(n, i + 1, "a zero point"), Emit::elem(n.in(0)));
}

void qLinearAdd(Node &n) { n.out(requantized(n, n.add(dequantized(n, 0), dequantized(n, 3)), 6)); }
void qLinearMul(Node &n) { n.out(requantized(n, n.mul(dequantized(n, 0), dequantized(n, 3)), 6)); }

void qLinearSigmoid(Node &n) { n.out(requantized(n, n.op<ir::SigmoidOp>({dequantized(n, 0)}), 3)); }
void qLinearLeakyRelu(Node &n) {
  Value v = n.op<ir::LeakyReluOp>({dequantized(n, 0)}, {n.real("alpha", n.realAttr("alpha", 0.01f))});
  n.out(requantized(n, v, 3));
}
void qLinearSoftmax(Node &n) {
  n.out(requantized(n, importAs(n, "Softmax", n.intAttr("opset"), {dequantized(n, 0)}), 3));
}

/// Pools as an operator of ONNX does, over an image whose channels may be last.
void quantizedPool(Node &n, const char *op) {
  bool isLast = n.intAttr("channels_last", 0) != 0;
  Value x = dequantized(n, 0);
  Value v = importAs(n, op, 22, {isLast ? channelsSecond(n, x) : x});
  n.out(requantized(n, isLast ? channelsLast(n, v) : v, 3));
}
void qLinearAveragePool(Node &n) { quantizedPool(n, "AveragePool"); }
void qLinearGlobalAveragePool(Node &n) { quantizedPool(n, "GlobalAveragePool"); }

void qLinearConcat(Node &n) {
  n.require((n.inputs() - 2) % 3 == 0, "has " + std::to_string(n.inputs() - 2) +
                                           " inputs behind its scale and zero point; expected triples of a tensor, "
                                           "its scale and its zero point");
  Value scale = realNumber(n, 0, "a scale"), zero = realNumber(n, 1, "a zero point");
  Values parts;
  for (unsigned i = 2; i < n.inputs(); i += 3) {
    const char *text = "; expected triples of a tensor, its scale and its zero point";
    n.require(!Emit::isFloat(n.in(i)), "has input " + std::to_string(i) + " " + typeText(n.in(i)) + text);
    n.require(Emit::elem(n.in(i + 1)).isF32(),
              "has input " + std::to_string(i + 1) + " " + typeText(n.in(i + 1)) + text);
    n.require(Emit::elem(n.in(i + 2)) == Emit::elem(n.in(i)),
              "has input " + std::to_string(i + 2) + " " + typeText(n.in(i + 2)) + text);
    parts.push_back(quantize(n, dequantized(n, i), scale, zero, Emit::elem(zero)));
  }
  n.out(n.concat(parts, n.axis(n.intAttr("axis"), Emit::rank(parts[0]))));
}

/// A scale of the whole matrix, or one for each column.
Value columnScale(Node &n, unsigned input) {
  return Emit::count(n.in(input)) == 1 ? n.reshape(n.in(input), {}) : n.in(input);
}

void qGemm(Node &n) {
  Value a = n.in(0), b = n.in(3);
  n.require(Emit::rank(a) == 2 && Emit::rank(b) == 2,
            "multiplies " + typeText(a) + " by " + typeText(b) + "; both have to be matrices");
  n.require(n.has(7) == n.has(8),
            std::string("has ") + (n.has(7) ? "y_scale without y_zero_point" : "y_zero_point without y_scale"));
  if (n.intAttr("transA", 0) != 0) a = n.transpose(a, {1, 0});
  if (n.intAttr("transB", 0) != 0) b = n.transpose(b, {1, 0});
  Value product = multiplyIntegers(n, a, b, realNumber(n, 2, "a_zero_point"), n.in(5));
  if (n.has(6)) {
    auto together = ir::broadcastShapes(Emit::shape(n.in(6)), Emit::shape(product));
    n.require(mlir::succeeded(together) && IntsRef(*together) == Emit::shape(product),
              "adds " + typeText(n.in(6)) + " to a product " + typeText(product));
    product = n.add(product, n.in(6)); // C has the product's scale
  }
  Value scale = n.mul(realNumber(n, 1, "a_scale"), columnScale(n, 4));
  double alpha = n.realAttr("alpha", 1);
  if (alpha != 1) scale = n.mul(scale, alpha);
  Value v = n.mul(n.cast(product, n.f32()), scale);
  n.out(n.has(7) ? quantize(n, v, realNumber(n, 7, "y_scale"), realNumber(n, 8, "y_zero_point"), Emit::elem(n.in(8)))
                 : v);
}

/// (a - zero) (b - zero) times both scales, and a bias.
void scaledProduct(Node &n, Value a, Value aScale, Value aZero, unsigned bScale, unsigned bZero, unsigned bias) {
  Value product = multiplyIntegers(n, a, n.in(1), aZero, n.inOr(bZero, {}));
  Type type = Emit::elem(n.in(bScale));
  Value scale = n.mul(n.cast(aScale, n.f32()), n.cast(columnScale(n, bScale), n.f32()));
  Value v = n.mul(n.cast(product, n.f32()), scale);
  if (n.has(bias)) v = n.add(v, n.cast(n.in(bias), n.f32()));
  n.out(n.cast(v, type));
}

void matMulIntegerToFloat(Node &n) { scaledProduct(n, n.in(0), rowScale(n, n.in(2)), n.inOr(4, {}), 3, 5, 6); }
void dynamicQuantizeMatMul(Node &n) {
  DynamicQuantized a = dynamicQuantize(n, n.in(0));
  scaledProduct(n, a.values, a.scale, a.zero, 2, 3, 4);
}

void microsoftQuantizeLinear(Node &n) { table().find("", "QuantizeLinear", 13)(n); }
void microsoftDequantizeLinear(Node &n) { table().find("", "DequantizeLinear", 13)(n); }

} // namespace

void addMicrosoftQuantized(Table &t) {
  auto add = [&](const char *op, ImportFunction import) { t.add(op, {1}, import, kMicrosoftDomain); };
  add("QLinearAdd", qLinearAdd);
  add("QLinearMul", qLinearMul);
  add("QLinearSigmoid", qLinearSigmoid);
  add("QLinearLeakyRelu", qLinearLeakyRelu);
  add("QLinearSoftmax", qLinearSoftmax);
  add("QLinearAveragePool", qLinearAveragePool);
  add("QLinearGlobalAveragePool", qLinearGlobalAveragePool);
  add("QLinearConcat", qLinearConcat);
  add("QGemm", qGemm);
  add("MatMulIntegerToFloat", matMulIntegerToFloat);
  add("DynamicQuantizeMatMul", dynamicQuantizeMatMul);
  add("DynamicQuantizeLSTM", lstmOfBytes);
  add("QuantizeLinear", microsoftQuantizeLinear);
  add("DequantizeLinear", microsoftDequantizeLinear);
}

} // namespace sprig::onnximport
