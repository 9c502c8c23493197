// Tensors that follow from a shape alone. Nothing is filled on the host: they are recorded as constants of one element
// and as indices, which kernels make as they go.
#include "sprig/create.h"
#include "lib/Frontend/Ops/Emitter.h"
#include <cmath>

namespace sprig {

using frontend::Emitter;

namespace {
using frontend::CreationScope;

Tensor filled(const Emitter &r, double value, const TensorType &type) {
  r.checkShape(type.shape);
  return frontend::splat(value, type, r.at, r.op);
}

Tensor full(const char *op, Source at, double value, const TensorType &type) {
  CreationScope here;
  return filled(Emitter(op, at), value, type);
}

Tensor like(const char *op, const Operand &x, double value) {
  Emitter r(op, x.at);
  Tensor tensor = r.tensorOf(x);
  DeviceScope there(frontend::deviceFor(tensor), x.at);
  CreationScope here;
  return filled(r, value, tensor.type(r.at));
}
} // namespace

Tensor zeros(const Shape &shape, DType type, Source at) { return full("zeros", at, 0, {type, shape}); }
Tensor ones(const Shape &shape, DType type, Source at) { return full("ones", at, 1, {type, shape}); }
Tensor full(const Shape &shape, double value, DType type, Source at) { return full("full", at, value, {type, shape}); }
Tensor zerosLike(const Operand &x) { return like("zerosLike", x, 0); }
Tensor onesLike(const Operand &x) { return like("onesLike", x, 1); }
Tensor fullLike(const Operand &x, double value) { return like("fullLike", x, value); }

namespace {
/// The numbers of a range, as an error shows them.
template <typename T> std::string rangeText(T begin, T end, T step) {
  auto number = [](T value) {
    if constexpr (std::is_floating_point_v<T>)
      return frontend::realText(value);
    else
      return std::to_string(value);
  };
  return "counts from " + number(begin) + " to " + number(end) + " by steps of " + number(step);
}
template <typename T> void checkRange(const Emitter &r, T begin, T end, T step, DType type) {
  if (step == 0) r.fail(rangeText(begin, end, step) + "; expected a step other than 0");
  if (step > 0 ? begin > end : begin < end)
    r.fail(rangeText(begin, end, step) + ", which lead away from the end; expected a step of the other sign");
  if (type == DType::boolean) r.fail("counts numbers, not booleans");
}
/// The ends of what is counted; where an integer type does not hold one, the numbers beyond would wrap.
void checkEnds(const Emitter &r, double first, double last, DType type) {
  if (isFloat(type)) return;
  for (double end : {first, last}) frontend::bitsOf(std::trunc(end), type, r.at, r.op);
}
} // namespace

Tensor arangeInteger(int64_t begin, int64_t end, int64_t step, DType type, Source at) {
  Emitter r("arange", at);
  CreationScope here;
  checkRange(r, begin, end, step, type);
  __int128 span = __int128(end) - begin, count = (span + step - (step > 0 ? 1 : -1)) / step;
  int64_t n = int64_t(std::min<__int128>(count, INT64_MAX));
  r.checkShape({n});
  if (n && !isFloat(type))
    for (int64_t end : {begin, int64_t(begin + (count - 1) * step)}) frontend::bitsOfInteger(end, type, at, r.op);
  Tensor result = r.iota({DType::i64, {n}}, 0);
  if (step != 1) result = r.mul(result, frontend::scalarInteger(step, DType::i64, at));
  if (begin != 0) result = r.add(result, frontend::scalarInteger(begin, DType::i64, at));
  return r.cast(result, type);
}

Tensor arangeReal(double begin, double end, double step, DType type, Source at) {
  Emitter r("arange", at);
  CreationScope here;
  if (!std::isfinite(begin) || !std::isfinite(end) || !std::isfinite(step))
    r.fail(rangeText(begin, end, step) + "; expected finite numbers");
  checkRange(r, begin, end, step, type);
  double count = std::ceil((end - begin) / step);
  if (count > 0x1p48) r.fail(rangeText(begin, end, step) + ", which are more than 2^48 elements");
  if (count > 0) checkEnds(r, begin, begin + (count - 1) * step, type);
  Tensor index = r.iota({DType::f64, {int64_t(count)}}, 0);
  return r.cast(r.add(r.mul(index, r.number(step, index)), r.number(begin, index)), type);
}

Tensor linspace(double begin, double end, int64_t count, DType type, Source at) {
  Emitter r("linspace", at);
  CreationScope here;
  if (count < 0) r.fail("takes " + std::to_string(count) + " numbers; expected at least 0");
  if (!std::isfinite(begin) || !std::isfinite(end))
    r.fail("goes from " + frontend::realText(begin) + " to " + frontend::realText(end) + "; expected finite numbers");
  if (type == DType::boolean) r.fail("counts numbers, not booleans");
  r.checkShape({count});
  if (count > 0) checkEnds(r, begin, count > 1 ? end : begin, type);
  Tensor index = r.iota({DType::f64, {count}}, 0);
  double step = count > 1 ? (end - begin) / double(count - 1) : 0;
  // The second half from the end on, so that the last one is exact.
  Tensor fromBegin = r.add(r.mul(index, r.number(step, index)), r.number(begin, index));
  Tensor left = r.sub(r.number(double(count - 1), index), index);
  Tensor fromEnd = r.sub(r.number(end, index), r.mul(left, r.number(step, index)));
  Tensor isFirstHalf = r.compare("predicate lt", index, r.number(std::max(1.0, double(count) / 2), index));
  return r.cast(r.select(isFirstHalf, fromBegin, fromEnd), type);
}

Tensor eye(int64_t rows, int64_t columns, DType type, Source at) {
  Emitter r("eye", at);
  CreationScope here;
  if (columns < 0) columns = rows;
  if (rows < 0) r.fail("has " + std::to_string(rows) + " rows");
  r.checkShape({rows, columns});
  Tensor row = r.iota({DType::i64, {rows, 1}}, 0), column = r.iota({DType::i64, {1, columns}}, 1);
  return r.cast(r.compare("predicate eq", row, column), type);
}

} // namespace sprig
