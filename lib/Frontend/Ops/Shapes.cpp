// The same elements in other shapes: reshaping, axes in another order, repetition.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/shape_ops.h"
#include <algorithm>

namespace sprig {

using frontend::Emitter;

namespace {
/// The shape with its one -1 filled in for this number of elements.
Shape completed(const Emitter &r, const TensorType &type, const Shape &shape) {
  Shape result = shape;
  int open = -1;
  int64_t known = 1, elements = type.elements();
  bool fits = true;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1) {
      if (open >= 0) r.fail("has more than one -1 in " + describe(shape));
      open = i;
    } else {
      if (shape[i] < 0) r.fail("has a negative size in " + describe(shape));
      fits &= !__builtin_mul_overflow(known, shape[i], &known);
    }
  }
  if (open >= 0) {
    fits &= known > 0 && elements % known == 0;
    if (fits) result[open] = elements / known;
  } else {
    fits &= known == elements;
  }
  if (!fits)
    r.fail("reshapes " + std::to_string(elements) + " elements of " + describe(type) + " to " + describe(shape) +
           (open < 0 ? ", which has " + std::to_string(known) : ", which they do not fill"));
  return result;
}

Shape identity(int rank) {
  Shape order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  return order;
}
} // namespace

Tensor reshape(const Operand &x, const Shape &shape) {
  Emitter r("reshape", x.at);
  Tensor operand = r.tensorOf(x);
  return r.reshape(operand, completed(r, operand.type(r.at), shape));
}

Tensor flatten(const Operand &x, int first, int last) {
  Emitter r("flatten", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  if (type.shape.empty()) return r.reshape(operand, {1});
  int from = r.axisOf(first, type), to = r.axisOf(last, type);
  if (from > to)
    r.fail("joins axes " + std::to_string(from) + " to " + std::to_string(to) + " of " + describe(type) +
           ", which are not in order");
  Shape shape;
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i > from && i <= to)
      shape[shape.rank() - 1] *= type.shape[i];
    else
      shape.push_back(type.shape[i]);
  }
  return r.reshape(operand, shape);
}

Tensor unflatten(const Operand &x, int axis, const Shape &sizes) {
  Emitter r("unflatten", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  Shape parts = completed(r, {type.dtype, {type.shape[along]}}, sizes), shape;
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i != along)
      shape.push_back(type.shape[i]);
    else
      for (int64_t size : parts) shape.push_back(size);
  }
  return r.reshape(operand, shape);
}

Tensor transpose(const Operand &x, int a, int b) {
  Emitter r("transpose", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  Shape order = identity(type.shape.rank());
  int first = r.axisOf(a, type), second = r.axisOf(b, type);
  std::swap(order[first], order[second]);
  return r.transpose(operand, order);
}

Tensor permute(const Operand &x, const Shape &order) {
  Emitter r("permute", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  if (order.rank() != type.shape.rank())
    r.fail("has " + std::to_string(order.rank()) + " axes in " + describe(order) + " for " + describe(type) +
           ", which has " + std::to_string(type.shape.rank()));
  Shape axes;
  bool seen[Shape::kMaxRank] = {};
  for (int64_t axis : order) {
    axes.push_back(r.axisOf(axis, type));
    if (std::exchange(seen[axes.back()], true))
      r.fail("has axis " + std::to_string(axis) + " twice in " + describe(order));
  }
  return r.transpose(operand, axes);
}

Tensor movedim(const Operand &x, int from, int to) {
  Emitter r("movedim", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int source = r.axisOf(from, type), target = r.axisOf(to, type);
  Shape order;
  int next = 0;
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i == target) {
      order.push_back(source);
      continue;
    }
    if (next == source) ++next;
    order.push_back(next++);
  }
  return r.transpose(operand, order);
}

Tensor squeeze(const Operand &x, int axis) {
  Emitter r("squeeze", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  return type.shape[along] == 1 ? r.dropAxis(operand, along) : operand;
}

Tensor squeeze(const Operand &x) {
  Emitter r("squeeze", x.at);
  Tensor operand = r.tensorOf(x);
  Shape shape;
  for (int64_t size : operand.type(r.at).shape)
    if (size != 1) shape.push_back(size);
  return r.reshape(operand, shape);
}

Tensor unsqueeze(const Operand &x, int axis) {
  Emitter r("unsqueeze", x.at);
  Tensor operand = r.tensorOf(x);
  return r.unsqueeze(operand, r.axisOf(axis, operand.type(r.at), 1));
}

namespace {
Tensor broadcastAs(const Emitter &r, const Operand &x, const Shape &shape, bool keeps) {
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int lead = shape.rank() - type.shape.rank();
  Shape target = shape;
  bool fits = lead >= 0;
  for (int i = 0; fits && i < shape.rank(); ++i) {
    int64_t own = i < lead ? 1 : type.shape[i - lead];
    if (keeps && shape[i] == -1 && i >= lead) target[i] = own;
    fits = target[i] >= 0 && (own == 1 || own == target[i]);
  }
  if (!fits) r.fail("does not expand " + describe(type) + " to " + describe(shape));
  return r.broadcastTo(operand, target);
}
} // namespace

Tensor expand(const Operand &x, const Shape &shape) { return broadcastAs(Emitter("expand", x.at), x, shape, true); }
Tensor broadcastTo(const Operand &x, const Shape &shape) {
  return broadcastAs(Emitter("broadcastTo", x.at), x, shape, false);
}

namespace {
Shape withLeadingOnes(const Shape &shape, int rank) {
  Shape result;
  for (int i = shape.rank(); i < rank; ++i) result.push_back(1);
  for (int64_t size : shape) result.push_back(size);
  return result;
}
} // namespace

Tensor tile(const Operand &x, const Shape &times) {
  Emitter r("tile", x.at);
  Tensor operand = r.tensorOf(x);
  for (int64_t n : times)
    if (n < 0) r.fail("repeats " + describe(operand.type(r.at)) + " by " + describe(times));
  // The shorter one of shape and times gets leading ones.
  int rank = std::max(operand.type(r.at).shape.rank(), times.rank());
  Shape own = withLeadingOnes(operand.type(r.at).shape, rank), repeats = withLeadingOnes(times, rank);
  // Axis by axis: as [1, n], expanded to [times, n], joined.
  Tensor result = r.reshape(operand, own);
  for (int i = 0; i < own.rank(); ++i) {
    if (repeats[i] == 1) continue;
    if (own.rank() == Shape::kMaxRank) r.fail("takes at most seven axes, got " + describe(operand.type(r.at)));
    Tensor lifted = r.unsqueeze(result, i);
    Shape wide = lifted.type(r.at).shape;
    wide[i] = repeats[i];
    Shape joined = result.type(r.at).shape;
    joined[i] *= repeats[i];
    result = r.reshape(r.broadcastTo(lifted, wide), joined);
  }
  return result;
}

Tensor repeatInterleave(const Operand &x, int64_t times, int axis) {
  Emitter r("repeatInterleave", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  if (times < 0) r.fail("repeats " + describe(type) + " " + std::to_string(times) + " times");
  if (type.shape.rank() == Shape::kMaxRank) r.fail("takes at most seven axes, got " + describe(type));
  Tensor lifted = r.unsqueeze(operand, along + 1);
  Shape wide = lifted.type(r.at).shape, joined = type.shape;
  wide[along + 1] = times;
  joined[along] *= times;
  return r.reshape(r.broadcastTo(lifted, wide), joined);
}

} // namespace sprig
