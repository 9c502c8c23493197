// Records primitives on behalf of one public operation: holds its name and the caller's line for what goes wrong, and
// knows the result type of each primitive. For the other files of this folder.
// Methods named like operations of the dialect take operands that fit (equal element types, axes in range); what a user
// can get wrong is checked by whoever calls them, or by the methods above them.
#pragma once
#include "lib/Frontend/Record.h"
#include "sprig/tensor.h"
#include <limits>

namespace sprig::frontend {

/// The dialect's operation of a name, looked up once at each place.
#define SPRIG_OP(name)                                                                                                 \
  ([]() -> const ::sprig::frontend::OpName & {                                                                         \
    static const ::sprig::frontend::OpName &op = ::sprig::frontend::opName("nn." name);                                \
    return op;                                                                                                         \
  }())

/// NumPy's rules; false where the shapes do not fit.
bool broadcastShapes(const Shape &a, const Shape &b, Shape &result);

/// The element type of a result of both (PyTorch's promote_types). False where there is none: u64 with signed integers.
bool promoteTypes(DType a, DType b, DType &result);

/// Two operands that were made to fit each other.
struct Pair {
  Tensor a, b;
};
/// The line of the first operand that has one.
inline Source lineOf(const Operand &a, const Operand &b) { return a.at.line ? a.at : b.at; }

class Emitter {
public:
  Emitter(const char *op, Source at) : op(op), at(at) {}

  const char *op;
  Source at;

  // What the user gave.
  [[noreturn]] void fail(const std::string &text) const { frontend::fail(at, op, text); }
  /// The type of a tensor that must be defined; `what` names it in the error.
  const TensorType &typeOf(const Tensor &x, const char *what = "operand") const {
    if (!x.defined()) requireDefined(x, op, what, at);
    return x.type(at);
  }
  /// The operand as a tensor; a number becomes a scalar, f32 or i64.
  Tensor tensorOf(const Operand &x, const char *what = "operand") const;
  /// The same as a float; integers and booleans become f32.
  Tensor floatOf(const Operand &x, const char *what = "operand") const;
  /// The same, refusing what is no float.
  Tensor requireFloat(const Operand &x, const char *what = "operand") const;
  /// An operand that may be none; otherwise of this element type.
  Tensor optional(const Operand &x, DType type, const char *what) const;
  /// Indices: i64 or i32. Floats are refused, other integers become i64.
  Tensor indicesOf(const Operand &x, const char *what = "indices") const;
  /// The same indices, of which one that is negative or not below `size` is an error when it runs: of operations that
  /// do not count from the end.
  Tensor fromStart(const Tensor &indices, int64_t size) const;
  /// The element type of a result of all of them.
  DType promote(std::span<const Operand *const> operands) const;
  /// The operand in this element type; a number becomes a scalar of it.
  Tensor converted(const Operand &x, DType type) const;
  /// An axis from 0 on; refuses those that are none. `extra`: one after the last counts too.
  int axisOf(int64_t axis, const TensorType &type, int extra = 0) const;
  /// Ascending axes; none: all.
  Shape axesOf(const Ints &axes, const TensorType &type) const;
  /// Both shapes' common one, or an error that shows both.
  Shape broadcast(const TensorType &a, const TensorType &b) const;
  /// Refuses negative sizes, and shapes of more elements than can be counted.
  void checkShape(const Shape &shape) const;
  /// Refuses a constant of more elements than the host makes while it records: 2^26.
  void checkTable(int64_t elements) const;

  // Elementwise.
  Tensor unary(const OpName &name, const Tensor &x, AttrList attrs = {}) const;
  Tensor predicate(const OpName &name, const Tensor &x) const;
  Tensor binary(const OpName &name, const Tensor &a, const Tensor &b, AttrList attrs = {}) const;
  Tensor add(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("add"), a, b); }
  Tensor sub(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("sub"), a, b); }
  Tensor mul(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("mul"), a, b); }
  Tensor div(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("div"), a, b); }
  Tensor max(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("max"), a, b); }
  Tensor min(const Tensor &a, const Tensor &b) const { return binary(SPRIG_OP("min"), a, b); }
  /// f16 as f32, for expressions that leave its range: squares do from 256 on, and 1e-12 is 0. Others as they are.
  Tensor withRange(const Tensor &x) const { return x.type(at).dtype == DType::f16 ? cast(x, DType::f32) : x; }
  /// x with a bound from below or above, which takes the gradient where both are equal.
  Tensor atLeast(const Tensor &x, const Tensor &bound) const {
    return binary(SPRIG_OP("max"), x, bound, {Attr::unit("bound")});
  }
  Tensor atMost(const Tensor &x, const Tensor &bound) const {
    return binary(SPRIG_OP("min"), x, bound, {Attr::unit("bound")});
  }
  Tensor neg(const Tensor &x) const { return unary(SPRIG_OP("neg"), x); }
  Tensor exp(const Tensor &x) const { return unary(SPRIG_OP("exp"), x); }
  Tensor log(const Tensor &x) const { return unary(SPRIG_OP("log"), x); }
  Tensor sqrt(const Tensor &x) const { return unary(SPRIG_OP("sqrt"), x); }
  Tensor abs(const Tensor &x) const { return unary(SPRIG_OP("abs"), x); }
  Tensor relu(const Tensor &x) const { return unary(SPRIG_OP("relu"), x); }
  /// x, whose values outside [low, high] are an error when it runs.
  Tensor inRange(const Tensor &x, double low, double high = std::numeric_limits<double>::infinity()) const {
    return unary(SPRIG_OP("in_range"), x, {Attr::of("low", low), Attr::of("high", high)});
  }
  /// x; where the condition holds, no gradient flows through it.
  Tensor cut(const Tensor &condition, const Tensor &x) const { return select(condition, x.detach(at), x); }
  /// The square root of what is not negative. At 0 its gradient is 0, where the root's is infinite.
  Tensor lengthOf(const Tensor &square) const {
    return sqrt(cut(compare("predicate eq", square, number(0, square)), square));
  }
  /// `word`: "predicate eq", ...
  Tensor compare(const char *word, const Tensor &a, const Tensor &b) const;
  Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b) const;
  Tensor cast(const Tensor &x, DType type) const;
  /// A scalar of x's element type.
  Tensor number(double value, const Tensor &x) const { return scalar(value, x.type(at).dtype, at, op); }

  // Shapes.
  Tensor iota(const TensorType &type, int axis) const;
  Tensor reshape(const Tensor &x, const Shape &shape) const;
  Tensor broadcastTo(const Tensor &x, const Shape &shape) const;
  Tensor transpose(const Tensor &x, const Shape &order) const;
  Tensor slice(const Tensor &x, const Shape &starts, const Shape &sizes, const Shape &steps) const;
  /// `size` elements from `start` on along one axis.
  Tensor part(const Tensor &x, int axis, int64_t start, int64_t size, int64_t step = 1) const;
  Tensor concat(std::span<const Tensor> parts, int axis) const;
  Tensor unsqueeze(const Tensor &x, int axis) const;
  /// Without an axis of size 1.
  Tensor dropAxis(const Tensor &x, int axis) const;
  /// `word`: "pad_mode constant", ...
  Tensor pad(const char *word, const Tensor &x, double value, const Shape &low, const Shape &high) const;
  Tensor gather(const Tensor &x, const Tensor &indices, int axis) const;
  Tensor gatherElements(const Tensor &x, const Tensor &indices, int axis) const;
  /// `word`: "scatter_kind add", ...
  Tensor scatterElements(const char *word, const Tensor &x, const Tensor &indices, const Tensor &updates,
                         int axis) const;
  /// A constant of i64 indices.
  Tensor indices(const std::vector<int64_t> &values) const;

  // Reductions; axes ascend.
  /// `word`: "reduce_kind sum", ...
  Tensor reduce(const char *word, const Tensor &x, const Shape &axes, bool keepDims) const;
  Tensor sum(const Tensor &x, const Shape &axes, bool keepDims) const {
    return reduce("reduce_kind sum", x, axes, keepDims);
  }
  Tensor mean(const Tensor &x, const Shape &axes, bool keepDims) const;
  Tensor softmax(const OpName &name, const Tensor &x, int axis) const;
  /// The softmax of rows of scores; masked: rows of -inf alone, of queries that see no key, become zeros.
  Tensor attentionWeights(const Tensor &scores, bool masked) const;

  /// [B..., M, K] x [B..., K, N]; refuses shapes that do not fit.
  Tensor matmul(const Tensor &a, const Tensor &b, bool transposeA = false, bool transposeB = false) const;

  /// Any operation with one result.
  Tensor emit(const OpName &name, std::initializer_list<Tensor> operands, AttrList attrs,
              const TensorType &result) const {
    return record(name, operands, std::move(attrs), result, at);
  }
};

/// The shape that a reduction leaves.
Shape reducedShape(const Shape &shape, const Shape &axes, bool keepDims);

} // namespace sprig::frontend
