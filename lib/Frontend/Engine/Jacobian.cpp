// Jacobians and Hessians: vmap of products with the rows of a unit matrix.
#include "lib/Frontend/Record.h"
#include "sprig/vmap.h"

namespace sprig {

using namespace frontend;

namespace {
/// The rows of a unit matrix, each of this type.
Tensor unitRows(const TensorType &type, Source at) {
  int64_t n = type.elements();
  const TensorType index{DType::i64, {n, n}};
  Tensor row = record(opName("nn.iota"), {}, {Attr::of("axis", 0)}, index, at);
  Tensor column = record(opName("nn.iota"), {}, {Attr::of("axis", 1)}, index, at);
  Tensor isOn = record(opName("nn.compare"), {row, column}, {Attr::word("predicate", "predicate eq")},
                       {DType::boolean, index.shape}, at);
  Tensor flat = record(opName("nn.cast"), {isOn}, {}, {type.dtype, index.shape}, at);
  Shape shape{n};
  for (int64_t size : type.shape) shape.push_back(size);
  return record(opName("nn.reshape"), {flat}, {}, {type.dtype, shape}, at);
}
} // namespace

Tensor jacobian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at) {
  requireDefined(x, "jacobian", "what the derivative is taken by", at);
  Tensor root = x.requireGrad(at), y = f(root);
  requireDefined(y, "jacobian", "the function's result", at);
  const TensorType own = y.type();
  if (!isFloat(own.dtype)) fail(at, "jacobian", "the function gives " + describe(own) + ", expected floats");
  if (own.elements() == 0) fail(at, "jacobian", "the function gives " + describe(own) + ", which has no elements");
  auto pullBack = [&](std::span<const Tensor> seed) {
    return grad({&y, 1}, {&root, 1}, {.createGraph = true, .seeds = {seed[0]}}, at);
  };
  Tensor seeds = unitRows(own, at), rows = vmapAll(pullBack, {&seeds, 1}, at)[0];
  Shape shape = own.shape;
  if (shape.rank() + x.rank(at) > Shape::kMaxRank)
    fail(at, "jacobian",
         "has more than " + std::to_string(Shape::kMaxRank) + " axes, those of " + describe(own) + " and of " +
             describe(x.type(at)));
  for (int64_t n : x.shape(at)) shape.push_back(n);
  return record(opName("nn.reshape"), {rows}, {}, {x.dtype(at), shape}, at);
}

Tensor hessian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at) {
  auto gradient = [&](Tensor v) {
    Tensor root = v.requireGrad(at), y = f(root);
    requireDefined(y, "hessian", "the function's result", at);
    return grad(y, root, {.createGraph = true}, at);
  };
  return jacobian(gradient, x, at);
}

} // namespace sprig
