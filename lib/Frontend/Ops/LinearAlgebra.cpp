// Systems of equations, inverses, determinants, Cholesky factors; gradients by their formulas (Giles, An extended
// collection of matrix derivative results, 2008).
#include "sprig/linalg.h"
#include "lib/Frontend/Ops/Elimination.h"
#include "sprig/grad.h"

namespace sprig {

using frontend::Elimination;
using frontend::Emitter;
using List = std::vector<Tensor>;

namespace {

Tensor transposed(const Emitter &r, const Tensor &x) { return r.transpose(x, {0, 2, 1}); }

Tensor unitLike(const Emitter &r, const Tensor &x) {
  const TensorType &type = x.type(r.at);
  Tensor row = r.iota({DType::i64, type.shape}, 1), column = r.iota({DType::i64, type.shape}, 2);
  return r.cast(r.compare("predicate eq", row, column), type.dtype);
}

// Of batches [B, n, n] in f32 or f64.

Tensor eliminated(const Emitter &r, const Tensor &a, const Tensor &b) {
  const Tensor both[] = {a, b};
  Tensor reduced = frontend::eliminate(r, r.concat(both, 2), true).matrix;
  return r.part(reduced, 2, a.type(r.at).shape[2], b.type(r.at).shape[2]);
}

Tensor solved(const Emitter &r, const Tensor &a, const Tensor &b) {
  auto forward = [&](std::span<const Tensor> v) { return List{eliminated(r, v[0], v[1])}; };
  auto backward = [&](std::span<const Tensor> v) { // a, b, x and x's cotangent
    // A second derivative goes through the elimination itself.
    Tensor ofB = eliminated(r, transposed(r, v[0]), v[3]);
    return List{r.neg(r.matmul(ofB, v[2], false, true)), ofB};
  };
  const Tensor inputs[] = {a, b};
  return customGradient(forward, backward, inputs, r.at)[0];
}

Tensor inverted(const Emitter &r, const Tensor &a) {
  auto forward = [&](std::span<const Tensor> v) { return List{eliminated(r, v[0], unitLike(r, v[0]))}; };
  auto backward = [&](std::span<const Tensor> v) {
    Tensor there = r.matmul(v[1], v[2], true, false);
    return List{r.neg(r.matmul(there, v[1], false, true))};
  };
  return customGradient(forward, backward, {&a, 1}, r.at)[0];
}

/// The product of pivots, with a sign for each exchange: [B].
Tensor determinant(const Emitter &r, const Elimination &e, const Tensor &pivots) {
  Tensor signs = r.select(e.swaps, r.neg(pivots), pivots);
  return r.reduce("reduce_kind prod", signs, {0}, false);
}

/// x [B] as [B, 1, 1].
Tensor lifted(const Emitter &r, const Tensor &x) { return r.reshape(x, {x.type(r.at).shape[0], 1, 1}); }

Tensor determinantOf(const Emitter &r, const Tensor &a) {
  auto forward = [&](std::span<const Tensor> v) {
    Elimination e = frontend::eliminate(r, v[0], false);
    return List{determinant(r, e, e.pivots)};
  };
  auto backward = [&](std::span<const Tensor> v) {
    return List{r.mul(lifted(r, r.mul(v[1], v[2])), transposed(r, inverted(r, v[0])))};
  };
  return customGradient(forward, backward, {&a, 1}, r.at)[0];
}

List signAndLog(const Emitter &r, const Tensor &a) {
  auto forward = [&](std::span<const Tensor> v) {
    Elimination e = frontend::eliminate(r, v[0], false);
    return List{determinant(r, e, r.unary(SPRIG_OP("sign"), e.pivots)), r.sum(r.log(r.abs(e.pivots)), {0}, false)};
  };
  auto backward = [&](std::span<const Tensor> v) { // a, both results, both cotangents; the sign's has no effect
    return List{r.mul(lifted(r, v[4]), transposed(r, inverted(r, v[0])))};
  };
  return customGradient(forward, backward, {&a, 1}, r.at);
}

Tensor factored(const Emitter &r, const Tensor &a) {
  auto forward = [&](std::span<const Tensor> v) { return List{frontend::choleskyFactor(r, v[0])}; };
  auto backward = [&](std::span<const Tensor> v) { // a, l and l's cotangent
    Tensor product = r.matmul(v[1], v[2], true, false);
    const TensorType &type = product.type(r.at);
    Tensor row = r.iota({DType::i64, type.shape}, 1), column = r.iota({DType::i64, type.shape}, 2);
    Tensor zero = r.number(0, product), half = r.mul(product, r.number(0.5, product));
    Tensor lower = r.select(r.compare("predicate gt", row, column), product,
                            r.select(r.compare("predicate eq", row, column), half, zero));
    Tensor back = inverted(r, v[1]);
    Tensor whole = r.matmul(r.matmul(back, lower, true, false), back);
    Tensor both = r.add(whole, transposed(r, whole));
    return List{r.mul(both, r.number(0.5, both))};
  };
  return customGradient(forward, backward, {&a, 1}, r.at)[0];
}

/// Matrices of the user in the form above, and the way back.
struct Batch {
  Tensor matrices;
  TensorType type; ///< as they were given
  int64_t size;    ///< rows

  static Batch of(const Emitter &r, const Operand &x, const char *what) {
    Tensor given = r.requireFloat(x, what);
    const TensorType type = given.type(r.at);
    int rank = type.shape.rank();
    if (rank < 2 || type.shape[rank - 1] != type.shape[rank - 2])
      r.fail("takes square matrices as " + std::string(what) + ", got " + describe(type));
    int64_t n = type.shape.back(), count = 1;
    for (int i = 0; i + 2 < rank; ++i) count *= type.shape[i];
    if (n < 1 || count < 1) r.fail("takes matrices that have elements, got " + describe(type));
    Tensor wide = sprig::size(type.dtype) < 4 ? r.cast(given, DType::f32) : given;
    return {r.reshape(wide, {count, n, n}), type, n};
  }
  Shape leading() const { return Shape(type.shape.data(), type.shape.size() - 2); }
  Tensor finish(const Emitter &r, const Tensor &result, const Shape &shape) const {
    return r.cast(r.reshape(result, shape), type.dtype);
  }
};

} // namespace

Tensor solve(const Operand &a, const Operand &b) {
  Emitter r("solve", a.at.line ? a.at : b.at);
  Batch left = Batch::of(r, a, "a");
  Tensor right = r.requireFloat(b, "b");
  const TensorType given = right.type(r.at);
  int rank = given.shape.rank();
  if (given.dtype != left.type.dtype)
    r.fail("solves " + describe(left.type) + " for " + describe(given) + "; convert one of them with to()");
  // PyTorch's rule of what is a batch of vectors.
  bool isVector = rank == 1;
  if (rank + 1 == left.type.shape.rank())
    isVector = given.shape == Shape(left.type.shape.data(), left.type.shape.size() - 1);
  if (isVector) right = r.unsqueeze(right, rank++);
  const Shape shape = right.type(r.at).shape;
  if (rank < 2 || shape[rank - 2] != left.size)
    r.fail("solves " + describe(left.type) + " for " + describe(given) + "; it takes [..., " +
           std::to_string(left.size) + ", k], or vectors [..., " + std::to_string(left.size) + "]");
  int64_t columns = shape.back();
  Shape lead, other(shape.data(), size_t(rank - 2));
  if (!frontend::broadcastShapes(left.leading(), other, lead))
    r.fail("does not broadcast the leading axes of " + describe(left.type) + " with those of " + describe(given));
  int64_t count = lead.elements();
  auto widened = [&](const Tensor &x, const Shape &own, int64_t last) {
    Shape from = own, to = lead;
    for (int64_t n : {left.size, last}) {
      from.push_back(n);
      to.push_back(n);
    }
    return r.reshape(r.broadcastTo(r.reshape(x, from), to), {count, left.size, last});
  };
  if (columns < 1 || count < 1) r.fail("takes a b that has elements, got " + describe(given));
  right = r.cast(right, left.matrices.type(r.at).dtype);
  Tensor x = solved(r, widened(left.matrices, left.leading(), left.size), widened(right, other, columns));
  Shape result = lead;
  result.push_back(left.size);
  if (!isVector) result.push_back(columns);
  return left.finish(r, x, result);
}

Tensor inverse(const Operand &a) {
  Emitter r("inverse", a.at);
  Batch batch = Batch::of(r, a, "a");
  return batch.finish(r, inverted(r, batch.matrices), batch.type.shape);
}

Tensor det(const Operand &a) {
  Emitter r("det", a.at);
  Batch batch = Batch::of(r, a, "a");
  return batch.finish(r, determinantOf(r, batch.matrices), batch.leading());
}

SignLogDet slogdet(const Operand &a) {
  Emitter r("slogdet", a.at);
  Batch batch = Batch::of(r, a, "a");
  List both = signAndLog(r, batch.matrices);
  return {batch.finish(r, both[0].detach(r.at), batch.leading()), batch.finish(r, both[1], batch.leading())};
}

Tensor cholesky(const Operand &a) {
  Emitter r("cholesky", a.at);
  Batch batch = Batch::of(r, a, "a");
  return batch.finish(r, factored(r, batch.matrices), batch.type.shape);
}

Tensor choleskySolve(const Operand &b, const Operand &l) {
  Emitter r("choleskySolve", b.at.line ? b.at : l.at);
  Batch batch = Batch::of(r, l, "l");
  Tensor lower = batch.finish(r, batch.matrices, batch.type.shape);
  Shape order;
  int rank = batch.type.shape.rank();
  for (int i = 0; i < rank; ++i) order.push_back(i == rank - 2 ? rank - 1 : i == rank - 1 ? rank - 2 : i);
  if (r.typeOf(b.tensor, "b").shape.rank() < 2) r.fail("takes b [..., n, k], got " + describe(b.tensor.type(r.at)));
  return solve({r.transpose(lower, order), r.at}, {solve({lower, r.at}, {b.tensor, r.at}), r.at});
}

} // namespace sprig
