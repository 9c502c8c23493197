#include "lib/Frontend/Ops/Emitter.h"
#include <algorithm>

namespace sprig::frontend {

namespace {
/// As the dialect's kMostElements: bytes of a shape, and a few times that, can still be counted.
constexpr int64_t kMostElements = int64_t(1) << 48;
/// Half a gigabyte of doubles; operations make a few of that size.
constexpr int64_t kMostTableElements = int64_t(1) << 26;

enum class Category { boolean, integer, real };
Category categoryOf(DType type) {
  return isFloat(type) ? Category::real : type == DType::boolean ? Category::boolean : Category::integer;
}
} // namespace

bool broadcastShapes(const Shape &a, const Shape &b, Shape &result) {
  const Shape &longer = a.rank() >= b.rank() ? a : b, &shorter = a.rank() >= b.rank() ? b : a;
  result = longer;
  int lead = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t x = longer[lead + i], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1) return false;
    result[lead + i] = y;
  }
  return true;
}

bool promoteTypes(DType a, DType b, DType &result) {
  result = a;
  if (a == b) return true;
  if (categoryOf(a) != categoryOf(b)) {
    result = categoryOf(a) > categoryOf(b) ? a : b;
    return true;
  }
  if (isFloat(a)) {
    if (size(a) == size(b))
      result = DType::f32; // f16 and bf16
    else
      result = size(a) > size(b) ? a : b;
    return true;
  }
  if (isUnsigned(a) == isUnsigned(b)) {
    result = size(a) > size(b) ? a : b;
    return true;
  }
  // A signed type that holds both: larger than the unsigned one.
  DType sign = isUnsigned(a) ? b : a, other = isUnsigned(a) ? a : b;
  if (other == DType::u64) return false;
  int64_t bytes = std::max(size(sign), 2 * size(other));
  result = bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
  return true;
}

Shape reducedShape(const Shape &shape, const Shape &axes, bool keepDims) {
  Shape result;
  int next = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    bool isReduced = next < axes.rank() && axes[next] == i;
    next += isReduced;
    if (!isReduced)
      result.push_back(shape[i]);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

// What the user gave.

Tensor Emitter::tensorOf(const Operand &x, const char *what) const {
  if (x.kind == Operand::Kind::real) return scalar(x.real, DType::f32, at);
  if (x.kind == Operand::Kind::integer) return scalarInteger(x.integer, DType::i64, at);
  typeOf(x.tensor, what);
  return x.tensor;
}

Tensor Emitter::floatOf(const Operand &x, const char *what) const {
  if (x.kind != Operand::Kind::tensor) return scalar(x.real, DType::f32, at);
  return isFloat(typeOf(x.tensor, what).dtype) ? x.tensor : cast(x.tensor, DType::f32);
}

Tensor Emitter::requireFloat(const Operand &x, const char *what) const {
  if (x.kind != Operand::Kind::tensor) return scalar(x.real, DType::f32, at);
  const TensorType &type = typeOf(x.tensor, what);
  if (!isFloat(type.dtype))
    fail("takes floats as " + std::string(what) + ", got " + describe(type) + "; convert it with to(DType::f32)");
  return x.tensor;
}

Tensor Emitter::optional(const Operand &x, DType type, const char *what) const {
  if (x.kind == Operand::Kind::tensor) {
    if (!x.tensor.defined()) return {};
    const TensorType &own = x.tensor.type(at);
    if (own.dtype != type)
      fail("takes " + std::string(what) + " of " + name(type) + " as the operand, got " + describe(own));
    return x.tensor;
  }
  return converted(x, type);
}

Tensor Emitter::indicesOf(const Operand &x, const char *what) const {
  if (x.kind == Operand::Kind::integer) return scalarInteger(x.integer, DType::i64, at);
  if (x.kind == Operand::Kind::real) fail("takes integers as " + std::string(what) + ", got a real number");
  const TensorType &type = typeOf(x.tensor, what);
  if (type.dtype == DType::i64 || type.dtype == DType::i32) return x.tensor;
  if (isFloat(type.dtype) || type.dtype == DType::boolean)
    fail("takes integers as " + std::string(what) + ", got " + describe(type) + "; convert them with to(DType::i64)");
  return cast(x.tensor, DType::i64);
}

Tensor Emitter::fromStart(const Tensor &indices, int64_t size) const {
  // Of no element every index is refused where it is used.
  return size ? unary(SPRIG_OP("class_index"), indices, {Attr::of("classes", size)}) : indices;
}

DType Emitter::promote(std::span<const Operand *const> operands) const {
  // Three classes, the first ones weigh more: tensors with dimensions, scalar tensors, numbers.
  bool has[3] = {};
  DType types[3] = {};
  for (const Operand *x : operands) {
    bool isTensor = x->kind == Operand::Kind::tensor;
    DType type = x->kind == Operand::Kind::real ? DType::f32 : DType::i64;
    int weight = 2;
    if (isTensor) {
      const TensorType &own = typeOf(x->tensor);
      type = own.dtype;
      weight = own.shape.empty() ? 1 : 0;
    }
    if (!has[weight]) {
      has[weight] = true;
      types[weight] = type;
    } else if (!promoteTypes(types[weight], type, types[weight])) {
      fail("has no common element type for " + std::string(name(types[weight])) + " and " + name(type) +
           "; convert one of them with to()");
    }
  }
  int first = has[0] ? 0 : has[1] ? 1 : 2;
  DType result = types[first];
  for (int i = first + 1; i < 3; ++i)
    if (has[i] && categoryOf(types[i]) > categoryOf(result)) result = types[i];
  return result;
}

Tensor Emitter::converted(const Operand &x, DType type) const {
  if (x.kind == Operand::Kind::tensor) return cast(x.tensor, type);
  if (x.kind == Operand::Kind::integer && !isFloat(type)) return scalarInteger(x.integer, type, at, op);
  return scalar(x.real, type, at, op);
}

int Emitter::axisOf(int64_t axis, const TensorType &type, int extra) const {
  int64_t rank = type.shape.rank() + extra;
  int64_t result = axis < 0 ? axis + rank : axis;
  if (result >= 0 && result < rank) return int(result);
  if (rank == 0) fail("has axis " + std::to_string(axis) + " on a scalar, " + describe(type) + ", which has no axes");
  fail("has axis " + std::to_string(axis) + " on " + describe(type) + ", whose axes are " + std::to_string(-rank) +
       " to " + std::to_string(rank - 1));
}

Shape Emitter::axesOf(const Ints &axes, const TensorType &type) const {
  Shape result;
  bool isListed[Shape::kMaxRank] = {};
  for (int64_t axis : axes) {
    bool &listed = isListed[axisOf(axis, type)];
    if (listed) fail("has axis " + std::to_string(axis) + " twice in " + describe(static_cast<const Shape &>(axes)));
    listed = true;
  }
  for (int i = 0; i < type.shape.rank(); ++i)
    if (axes.empty() || isListed[i]) result.push_back(i);
  return result;
}

Shape Emitter::broadcast(const TensorType &a, const TensorType &b) const {
  Shape shape;
  if (!broadcastShapes(a.shape, b.shape, shape))
    fail("does not broadcast " + describe(a) + " with " + describe(b) +
         "; sizes must be equal or 1, counted from the last axis");
  checkShape(shape);
  return shape;
}

void Emitter::checkShape(const Shape &shape) const {
  int64_t count = 1;
  bool overflows = false;
  for (int64_t size : shape) {
    if (size < 0) fail("has a negative size in " + describe(shape));
    overflows |= __builtin_mul_overflow(count, size, &count) || count > kMostElements;
  }
  if (overflows && std::find(shape.begin(), shape.end(), 0) == shape.end())
    fail("has a result of shape " + describe(shape) + ", of more than 2^48 elements");
}

void Emitter::checkTable(int64_t elements) const {
  if (elements > kMostTableElements)
    fail("needs a table of " + std::to_string(elements) + " numbers, more than the " +
         std::to_string(kMostTableElements) + " that are possible");
}

// Elementwise.

Tensor Emitter::unary(const OpName &name, const Tensor &x, AttrList attrs) const {
  return record(name, std::span(&x, 1), std::move(attrs), x.type(at), at);
}

Tensor Emitter::predicate(const OpName &name, const Tensor &x) const {
  return record(name, std::span(&x, 1), {}, {DType::boolean, x.type(at).shape}, at);
}

Tensor Emitter::binary(const OpName &name, const Tensor &a, const Tensor &b, AttrList attrs) const {
  const TensorType &x = a.type(at), &y = b.type(at);
  if (x.shape == y.shape || y.shape.empty()) return emit(name, {a, b}, std::move(attrs), x);
  return emit(name, {a, b}, std::move(attrs), {x.dtype, broadcast(x, y)});
}

Tensor Emitter::compare(const char *word, const Tensor &a, const Tensor &b) const {
  return emit(SPRIG_OP("compare"), {a, b}, {Attr::word("predicate", word)},
              {DType::boolean, broadcast(a.type(at), b.type(at))});
}

Tensor Emitter::select(const Tensor &condition, const Tensor &a, const Tensor &b) const {
  TensorType values{a.type(at).dtype, broadcast(a.type(at), b.type(at))};
  return emit(SPRIG_OP("select"), {condition, a, b}, {}, {values.dtype, broadcast(condition.type(at), values)});
}

Tensor Emitter::cast(const Tensor &x, DType type) const {
  const TensorType &own = x.type(at);
  return own.dtype == type ? x : emit(SPRIG_OP("cast"), {x}, {}, {type, own.shape});
}

// Shapes.

Tensor Emitter::iota(const TensorType &type, int axis) const {
  return emit(SPRIG_OP("iota"), {}, {Attr::of("axis", axis)}, type);
}

Tensor Emitter::reshape(const Tensor &x, const Shape &shape) const {
  const TensorType &own = x.type(at);
  return own.shape == shape ? x : emit(SPRIG_OP("reshape"), {x}, {}, {own.dtype, shape});
}

Tensor Emitter::broadcastTo(const Tensor &x, const Shape &shape) const {
  const TensorType &own = x.type(at);
  if (own.shape == shape) return x;
  checkShape(shape);
  return emit(SPRIG_OP("broadcast"), {x}, {}, {own.dtype, shape});
}

Tensor Emitter::transpose(const Tensor &x, const Shape &order) const {
  const TensorType &own = x.type(at);
  TensorType type{own.dtype, own.shape};
  bool moves = false;
  for (int i = 0; i < order.rank(); ++i) {
    type.shape[i] = own.shape[int(order[i])];
    moves |= order[i] != i;
  }
  return moves ? emit(SPRIG_OP("transpose"), {x}, {Attr::of("permutation", order)}, type) : x;
}

Tensor Emitter::slice(const Tensor &x, const Shape &starts, const Shape &sizes, const Shape &steps) const {
  return emit(SPRIG_OP("slice"), {x}, {Attr::of("starts", starts), Attr::of("sizes", sizes), Attr::of("steps", steps)},
              {x.type(at).dtype, sizes});
}

Tensor Emitter::part(const Tensor &x, int axis, int64_t start, int64_t size, int64_t step) const {
  const Shape &shape = x.type(at).shape;
  if (start == 0 && step == 1 && size == shape[axis]) return x;
  Shape starts = shape, sizes = shape, steps = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    starts[i] = i == axis ? start : 0;
    steps[i] = i == axis ? step : 1;
  }
  sizes[axis] = size;
  return slice(x, starts, sizes, steps);
}

Tensor Emitter::concat(std::span<const Tensor> parts, int axis) const {
  if (parts.size() == 1) return parts[0];
  TensorType type = parts[0].type(at);
  for (size_t i = 1; i < parts.size(); ++i) type.shape[axis] += parts[i].type(at).shape[axis];
  checkShape(type.shape);
  return record(SPRIG_OP("concat"), parts, {Attr::of("axis", axis)}, type, at);
}

Tensor Emitter::unsqueeze(const Tensor &x, int axis) const {
  const Shape &own = x.type(at).shape;
  Shape shape;
  for (int i = 0; i <= own.rank(); ++i) {
    if (i == axis) shape.push_back(1);
    if (i < own.rank()) shape.push_back(own[i]);
  }
  return reshape(x, shape);
}

Tensor Emitter::dropAxis(const Tensor &x, int axis) const {
  return reshape(x, reducedShape(x.type(at).shape, {axis}, false));
}

Tensor Emitter::pad(const char *word, const Tensor &x, double value, const Shape &low, const Shape &high) const {
  TensorType type = x.type(at);
  for (int i = 0; i < type.shape.rank(); ++i) type.shape[i] += low[i] + high[i];
  checkShape(type.shape);
  return emit(SPRIG_OP("pad"), {x, scalar(value, type.dtype, at, op)},
              {Attr::word("mode", word), Attr::of("low", low), Attr::of("high", high)}, type);
}

Tensor Emitter::gather(const Tensor &x, const Tensor &indices, int axis) const {
  const TensorType &own = x.type(at);
  TensorType type{own.dtype, {}};
  for (int i = 0; i < own.shape.rank(); ++i) {
    if (i != axis)
      type.shape.push_back(own.shape[i]);
    else
      for (int64_t size : indices.type(at).shape) type.shape.push_back(size);
  }
  checkShape(type.shape);
  return emit(SPRIG_OP("gather"), {x, indices}, {Attr::of("axis", axis)}, type);
}

Tensor Emitter::gatherElements(const Tensor &x, const Tensor &indices, int axis) const {
  return emit(SPRIG_OP("gather_elements"), {x, indices}, {Attr::of("axis", axis)},
              {x.type(at).dtype, indices.type(at).shape});
}

Tensor Emitter::scatterElements(const char *word, const Tensor &x, const Tensor &indices, const Tensor &updates,
                                int axis) const {
  return emit(SPRIG_OP("scatter_elements"), {x, indices, updates}, {Attr::word("kind", word), Attr::of("axis", axis)},
              x.type(at));
}

Tensor Emitter::indices(const std::vector<int64_t> &values) const {
  return frontend::unplaced(Tensor::from(values, {int64_t(values.size())}, at));
}

// Reductions.

Tensor Emitter::reduce(const char *word, const Tensor &x, const Shape &axes, bool keepDims) const {
  const TensorType &own = x.type(at);
  AttrList attrs{Attr::word("kind", word), Attr::of("axes", axes)};
  if (keepDims) attrs.push_back(Attr::unit("keep_dims"));
  return emit(SPRIG_OP("reduce"), {x}, std::move(attrs), {own.dtype, reducedShape(own.shape, axes, keepDims)});
}

Tensor Emitter::mean(const Tensor &x, const Shape &axes, bool keepDims) const {
  const TensorType &own = x.type(at);
  AttrList attrs{Attr::of("axes", axes)};
  if (keepDims) attrs.push_back(Attr::unit("keep_dims"));
  return emit(SPRIG_OP("reduce_mean"), {x}, std::move(attrs), {own.dtype, reducedShape(own.shape, axes, keepDims)});
}

Tensor Emitter::softmax(const OpName &name, const Tensor &x, int axis) const {
  return unary(name, x, {Attr::of("axis", axis)});
}

Tensor Emitter::attentionWeights(const Tensor &scores, bool masked) const {
  AttrList attrs{Attr::of("axis", scores.type(at).shape.rank() - 1)};
  if (masked) attrs.push_back(Attr::unit("masked"));
  return unary(SPRIG_OP("softmax"), scores, std::move(attrs));
}

Tensor Emitter::matmul(const Tensor &a, const Tensor &b, bool transposeA, bool transposeB) const {
  const TensorType &x = a.type(at), &y = b.type(at);
  int p = x.shape.rank(), q = y.shape.rank();
  if (x.dtype != y.dtype) fail("multiplies " + describe(x) + " by " + describe(y) + "; convert one of them with to()");
  if (p < 2 || q < 2) fail("multiplies matrices, got " + describe(x) + " and " + describe(y));
  int64_t m = x.shape[p - 2], k = x.shape[p - 1], k2 = y.shape[q - 2], n = y.shape[q - 1];
  if (transposeA) std::swap(m, k);
  if (transposeB) std::swap(k2, n);
  if (k != k2)
    fail("contracts " + std::to_string(k) + (transposeA ? " rows" : " columns") + " of " + describe(x) + " with " +
         std::to_string(k2) + (transposeB ? " columns" : " rows") + " of " + describe(y));
  TensorType type{x.dtype, {}};
  if (!broadcastShapes(Shape(x.shape.data(), size_t(p - 2)), Shape(y.shape.data(), size_t(q - 2)), type.shape))
    fail("does not broadcast the leading axes of " + describe(x) + " with those of " + describe(y));
  type.shape.push_back(m);
  type.shape.push_back(n);
  checkShape(type.shape);
  AttrList attrs;
  if (transposeA) attrs.push_back(Attr::unit("transpose_lhs"));
  if (transposeB) attrs.push_back(Attr::unit("transpose_rhs"));
  return emit(SPRIG_OP("matmul"), {a, b}, std::move(attrs), type);
}

} // namespace sprig::frontend
