// Maps of scalar functions over tensors, and the float comparisons that let NaN through.
// For the evaluators of elementwise operations and of activations.
#pragma once
#include "lib/Interpreter/Evaluation.h"
#include <cmath>

namespace sprig::interp {

/// The larger one: NaN if either is, +0 above -0.
inline double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
/// The smaller one: NaN if either is, -0 below +0.
inline double smaller(double a, double b) { return -larger(-a, -b); }

/// f over the only operand's elements of class In; the result is of class Out.
template <typename In, typename Out, typename F> Tensor map(Evaluation &e, F f) {
  Elements<In> in = e.operands[0].elements<In>();
  mlir::RankedTensorType type = e.resultType();
  std::vector<Out> out(in.isSplat() ? std::min<int64_t>(1, type.getNumElements()) : type.getNumElements());
  for (size_t i = 0; i < out.size(); ++i) out[i] = f(in[i]);
  return Tensor::of<Out>(type, std::move(out));
}
template <typename F> Tensor mapFloats(Evaluation &e, F f) { return map<double, double>(e, f); }
/// Registers a unary operation on floats.
template <typename OpT, typename F> void addFloat(EvaluatorTable &table, F) {
  table.add<OpT>(+[](OpT, Evaluation &e) { return e.give(mapFloats(e, F{})); });
}

/// f over the elements `a` and `b` of the two operands, broadcast to the result.
template <typename Out, typename In, typename F>
Tensor zip(Evaluation &e, const Elements<In> &a, const Elements<In> &b, F f) {
  mlir::RankedTensorType type = e.resultType();
  int64_t count = type.getNumElements();
  if (count && a.isSplat() && b.isSplat()) return Tensor::of<Out>(type, {f(a[0], b[0])});
  std::vector<Out> out(count);
  std::array<Strides, 2> strides = {broadcastStrides(e.operands[0].shape(), type.getShape()),
                                    broadcastStrides(e.operands[1].shape(), type.getShape())};
  walk(type.getShape(), strides, [&](int64_t i, const std::array<int64_t, 2> &at) { out[i] = f(a[at[0]], b[at[1]]); });
  return Tensor::of<Out>(type, std::move(out));
}
template <typename In, typename Out, typename F> Tensor map2(Evaluation &e, F f) {
  return zip<Out>(e, e.operands[0].elements<In>(), e.operands[1].elements<In>(), f);
}

} // namespace sprig::interp
