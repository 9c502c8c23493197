// Quantisation. Products of quantised tensors are what they decompose into.
#include "dialects/NN/NNQuantized.h"
#include "lib/Interpreter/Evaluation.h"
#include "lib/Interpreter/Numbers.h"
#include <cmath>

namespace sprig::interp {
namespace {

// The type that quotients and products are rounded to: f64, or f32 of all others.
mlir::Type roundedType(mlir::Type element) {
  return element.isF64() ? element : mlir::Float32Type::get(element.getContext());
}

// f(element, scale, zero) over the operand, to which the others broadcast.
template <typename In, typename Out, typename F> mlir::LogicalResult mapQuantized(Evaluation &e, F f) {
  Elements<In> in = e.operands[0].elements<In>();
  Elements<double> scale = e.operands[1].doubles();
  Elements<int64_t> zero = e.operands[2].integers();
  mlir::RankedTensorType type = e.resultType();
  if (type.getNumElements() && in.isSplat() && scale.isSplat() && zero.isSplat())
    return e.give(Tensor::of<Out>(type, {f(in[0], scale[0], zero[0])}));
  std::vector<Out> out(type.getNumElements());
  std::array<Strides, 3> strides;
  for (unsigned i = 0; i < 3; ++i) strides[i] = broadcastStrides(e.operands[i].shape(), type.getShape());
  walk(type.getShape(), strides,
       [&](int64_t i, const std::array<int64_t, 3> &at) { out[i] = f(in[at[0]], scale[at[1]], zero[at[2]]); });
  return e.give(Tensor::of<Out>(type, std::move(out)));
}

mlir::LogicalResult evaluateQuantize(ir::QuantizeOp, Evaluation &e) {
  mlir::Type to = e.resultType().getElementType(), rounded = roundedType(e.operands[0].elementType());
  double low = toDouble(lowestOf(to), to), high = toDouble(highestOf(to), to);
  return mapQuantized<double, int64_t>(e, [&](double x, double scale, int64_t zero) -> int64_t {
    double v = std::nearbyint(roundTo(x / scale, rounded)) + double(zero);
    return int64_t(v > low ? std::min(v, high) : low);
  });
}

mlir::LogicalResult evaluateDequantize(ir::DequantizeOp, Evaluation &e) {
  mlir::Type word = mlir::IntegerType::get(e.op->getContext(), 32);
  mlir::Type rounded = roundedType(e.operands[1].elementType());
  return mapQuantized<int64_t, double>(e, [&](int64_t x, double scale, int64_t zero) {
    return roundTo(roundTo(double(wrapTo(x - zero, word)), rounded) * scale, rounded);
  });
}

} // namespace

void addQuantized(EvaluatorTable &table) { table.add(evaluateQuantize, evaluateDequantize); }

} // namespace sprig::interp
