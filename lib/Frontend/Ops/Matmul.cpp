// Matrix products.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/contract.h"

namespace sprig {

using frontend::Emitter;
using frontend::lineOf;
using frontend::Pair;

namespace {

/// Both in their common element type; booleans are refused.
Pair factors(const Emitter &r, const Operand &a, const Operand &b) {
  const Operand *both[] = {&a, &b};
  Tensor x = r.tensorOf(a), y = r.tensorOf(b);
  DType type = r.promote(both);
  if (type == DType::boolean)
    r.fail("multiplies numbers, got " + describe(x.type(r.at)) + " and " + describe(y.type(r.at)));
  return {r.cast(x, type), r.cast(y, type)};
}

/// Refuses all ranks but one.
void requireRanks(const Emitter &r, const Pair &p, int first, int second, const char *what) {
  const TensorType &a = p.a.type(r.at), &b = p.b.type(r.at);
  if (a.shape.rank() != first || b.shape.rank() != second)
    r.fail(std::string("takes ") + what + ", got " + describe(a) + " and " + describe(b));
}
} // namespace

Tensor matmul(const Operand &a, const Operand &b) {
  Emitter r("matmul", lineOf(a, b));
  auto [x, y] = factors(r, a, b);
  int p = x.type(r.at).shape.rank(), q = y.type(r.at).shape.rank();
  if (p == 0 || q == 0)
    r.fail("multiplies vectors and matrices, got " + describe(x.type(r.at)) + " and " + describe(y.type(r.at)));
  if (p > 1 && q > 1) return r.matmul(x, y);
  const TensorType &left = x.type(r.at), &right = y.type(r.at);
  int64_t k = left.shape.back(), k2 = right.shape[q > 1 ? q - 2 : 0];
  if (k != k2)
    r.fail("contracts " + std::to_string(k) + " elements of " + describe(left) + " with " + std::to_string(k2) +
           " of " + describe(right));
  Tensor product = r.matmul(p == 1 ? r.unsqueeze(x, 0) : x, q == 1 ? r.unsqueeze(y, 1) : y);
  Shape shape = product.type(r.at).shape;
  if (q == 1) shape = frontend::reducedShape(shape, {shape.rank() - 1}, false);
  if (p == 1) shape = frontend::reducedShape(shape, {shape.rank() - (q == 1 ? 1 : 2)}, false);
  return r.reshape(product, shape);
}

Tensor mm(const Operand &a, const Operand &b) {
  Emitter r("mm", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 2, 2, "two matrices");
  return r.matmul(p.a, p.b);
}

Tensor bmm(const Operand &a, const Operand &b) {
  Emitter r("bmm", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 3, 3, "two batches of matrices");
  const TensorType &x = p.a.type(r.at), &y = p.b.type(r.at);
  if (x.shape[0] != y.shape[0])
    r.fail("multiplies " + std::to_string(x.shape[0]) + " matrices of " + describe(x) + " by " +
           std::to_string(y.shape[0]) + " of " + describe(y));
  return r.matmul(p.a, p.b);
}

Tensor mv(const Operand &a, const Operand &b) {
  Emitter r("mv", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 2, 1, "a matrix and a vector");
  return r.dropAxis(r.matmul(p.a, r.unsqueeze(p.b, 1)), 1);
}

Tensor dot(const Operand &a, const Operand &b) {
  Emitter r("dot", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 1, 1, "two vectors");
  return r.reshape(r.matmul(r.unsqueeze(p.a, 0), r.unsqueeze(p.b, 1)), {});
}

Tensor outer(const Operand &a, const Operand &b) {
  Emitter r("outer", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 1, 1, "two vectors");
  return r.mul(r.unsqueeze(p.a, 1), p.b);
}

Tensor addmm(const Operand &c, const Operand &a, const Operand &b, double beta, double alpha) {
  Emitter r("addmm", lineOf(a, b));
  Pair p = factors(r, a, b);
  requireRanks(r, p, 2, 2, "two matrices");
  Tensor product = r.matmul(p.a, p.b);
  if (alpha != 1) product = r.mul(product, r.number(alpha, product));
  const TensorType type = product.type(r.at);
  Tensor addend = r.cast(r.tensorOf(c), type.dtype);
  if (beta != 1) addend = r.mul(addend, r.number(beta, addend));
  Tensor result = r.add(addend, product);
  if (result.type(r.at) != type) r.fail("adds " + describe(addend.type(r.at)) + " to a product " + describe(type));
  return result;
}

Tensor linear(const Operand &x, const Operand &weight, const Operand &bias) {
  Emitter r("linear", lineOf(x, weight));
  const TensorType &input = r.typeOf(x.tensor, "input"), &w = r.typeOf(weight.tensor, "weight");
  if (!isFloat(input.dtype) || input.dtype != w.dtype)
    r.fail("takes floats of one type, got input " + describe(input) + " and weight " + describe(w));
  if (input.shape.empty() || w.shape.rank() != 2)
    r.fail("takes an input [..., K] and a weight [N, K], got " + describe(input) + " and " + describe(w));
  if (input.shape.back() != w.shape[1])
    r.fail("takes " + std::to_string(w.shape[1]) + " features by its weight " + describe(w) + ", got input " +
           describe(input));
  TensorType result = input;
  result.shape[input.shape.rank() - 1] = w.shape[0];
  r.checkShape(result.shape);
  if (bias.kind != Operand::Kind::tensor || !bias.tensor.defined())
    return r.emit(SPRIG_OP("linear"), {x.tensor, weight.tensor}, {}, result);
  const TensorType &b = bias.tensor.type(r.at);
  if (b.dtype != input.dtype || b.shape != Shape{w.shape[0]})
    r.fail("adds bias " + describe(b) + " to the " + std::to_string(w.shape[0]) + " features of weight " + describe(w));
  return r.emit(SPRIG_OP("linear"), {x.tensor, weight.tensor, bias.tensor}, {}, result);
}

Tensor bilinear(const Operand &x1, const Operand &x2, const Operand &weight, const Operand &bias) {
  Emitter r("bilinear", lineOf(x1, x2));
  Tensor a = r.requireFloat(x1), b = r.requireFloat(x2), w = r.requireFloat(weight, "weight");
  const TensorType p = a.type(r.at), q = b.type(r.at), v = w.type(r.at);
  bool fits = v.shape.rank() == 3 && p.shape.rank() >= 1 && p.shape.rank() == q.shape.rank() && p.dtype == q.dtype &&
              p.dtype == v.dtype && p.shape.back() == v.shape[1] && q.shape.back() == v.shape[2];
  for (int i = 0; fits && i + 1 < p.shape.rank(); ++i) fits = p.shape[i] == q.shape[i];
  if (!fits)
    r.fail("takes [..., I], [..., J] and a weight [O, I, J], got " + describe(p) + ", " + describe(q) + " and " +
           describe(v));
  int64_t rows = 1, o = v.shape[0], i = v.shape[1], j = v.shape[2];
  for (int d = 0; d + 1 < p.shape.rank(); ++d) rows *= p.shape[d];
  // [1, rows, I] x [O, I, J] = [O, rows, J]; times x2, summed over J.
  Tensor left = r.matmul(r.reshape(a, {1, rows, i}), w);
  Tensor sums = r.sum(r.mul(left, r.reshape(b, {1, rows, j})), {2}, false);
  Shape shape = p.shape;
  shape[shape.rank() - 1] = o;
  Tensor result = r.reshape(r.transpose(sums, {1, 0}), shape);
  Tensor addend = r.optional(bias, p.dtype, "bias");
  if (!addend.defined()) return result;
  if (addend.type(r.at).shape != Shape{o})
    r.fail("adds bias " + describe(addend.type(r.at)) + " to the " + std::to_string(o) + " features of weight " +
           describe(v));
  return r.add(result, addend);
}

} // namespace sprig
