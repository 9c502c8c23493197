// Reductions, running sums, arg-reductions and sorts.
#include "lib/Interpreter/Reduction.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include <algorithm>
#include <numeric>

namespace sprig::interp {

double reduceStep(ir::ReduceKind kind, mlir::Type, double a, double b) {
  switch (kind) {
  case ir::ReduceKind::sum: return a + b;
  case ir::ReduceKind::prod: return a * b;
  case ir::ReduceKind::max: return larger(a, b);
  case ir::ReduceKind::min: return smaller(a, b);
  }
  return a;
}
int64_t reduceStep(ir::ReduceKind kind, mlir::Type type, int64_t a, int64_t b) {
  bool below = isUnsigned(type) ? uint64_t(a) < uint64_t(b) : a < b;
  switch (kind) {
  case ir::ReduceKind::sum: return wrapTo(uint64_t(a) + uint64_t(b), type);
  case ir::ReduceKind::prod: return wrapTo(uint64_t(a) * uint64_t(b), type);
  case ir::ReduceKind::max: return below ? b : a;
  case ir::ReduceKind::min: return below ? a : b;
  }
  return a;
}

namespace {

// A dimension that is walked alone: `outer` positions before it, `size` in it, `inner` after it.
struct Axis {
  int64_t outer, size, inner;
  Axis(llvm::ArrayRef<int64_t> shape, int64_t axis) {
    axis = fromFront(axis, shape.size());
    outer = product(shape.take_front(axis));
    size = shape[axis];
    inner = product(shape.drop_front(axis + 1));
  }
  int64_t at(int64_t o, int64_t i, int64_t n) const { return (o * size + i) * inner + n; }
};

// Strides of the result, with zeros for the reduced dimensions, by the operand's dimensions.
Strides reducedStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  Strides strides(shape.size(), 0);
  int64_t stride = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    if (llvm::is_contained(axes, d)) continue;
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

llvm::SmallVector<int64_t> axesFromFront(llvm::ArrayRef<int64_t> axes, int64_t rank) {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return fromFront(axis, rank); });
}

template <typename T> std::vector<T> reduceInto(Evaluation &e, ir::ReduceKind kind, llvm::ArrayRef<int64_t> axes) {
  const Tensor &operand = e.operands[0];
  mlir::Type type = operand.elementType();
  Elements<T> in = operand.elements<T>();
  std::vector<T> result(e.resultType().getNumElements(), reduceStart(kind, type, T()));
  walk<1>(operand.shape(), {reducedStrides(operand.shape(), axesFromFront(axes, operand.rank()))},
          [&](int64_t i, const std::array<int64_t, 1> &at) {
            result[at[0]] = reduceStep(kind, type, result[at[0]], in[i]);
          });
  return result;
}

mlir::LogicalResult evaluateReduce(ir::ReduceOp op, Evaluation &e) {
  return giveLike(e.operands[0], e,
                  [&]<typename T>(std::vector<T> &result) { result = reduceInto<T>(e, op.getKind(), op.getAxes()); });
}

mlir::LogicalResult evaluateReduceMean(ir::ReduceMeanOp op, Evaluation &e) {
  int64_t size = 1;
  for (int64_t axis : axesFromFront(op.getAxes(), e.operands[0].rank())) size *= e.operands[0].shape()[axis];
  if (e.operands[0].isFloat()) {
    std::vector<double> result = reduceInto<double>(e, ir::ReduceKind::sum, op.getAxes());
    for (double &value : result) value /= double(size);
    return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
  }
  // The count is a value of the element type too.
  mlir::Type type = e.operands[0].elementType();
  int64_t divisor = wrapTo(size, type);
  std::vector<int64_t> result = reduceInto<int64_t>(e, ir::ReduceKind::sum, op.getAxes());
  if (divisor == 0 && !result.empty()) return e.fail("divides an integer by zero");
  for (int64_t &value : result)
    value = isUnsigned(type) ? int64_t(uint64_t(value) / uint64_t(divisor))
                             : wrapTo(divisor == -1 ? int64_t(0 - uint64_t(value)) : value / divisor, type);
  return e.give(Tensor::ofIntegers(e.resultType(), std::move(result)));
}

template <typename T> bool isNan(T value) {
  if constexpr (std::is_same_v<T, double>) return std::isnan(value);
  return false;
}
template <typename T> bool below(T a, T b, mlir::Type type) {
  if constexpr (std::is_same_v<T, double>)
    return a < b;
  else
    return isUnsigned(type) ? uint64_t(a) < uint64_t(b) : a < b;
}

mlir::LogicalResult evaluateArgReduce(ir::ArgReduceOp op, Evaluation &e) {
  Axis axis(e.operands[0].shape(), op.getAxis());
  bool wantMax = op.getKind() == ir::ReduceKind::max;
  std::vector<int64_t> result(e.resultType().getNumElements());
  if (axis.size == 0 && !result.empty()) return e.fail("takes the index of an extremum of no elements");
  mlir::Type type = e.operands[0].elementType();
  byClass(e.operands[0], [&](auto zero) {
    using T = decltype(zero);
    Elements<T> in = e.operands[0].elements<T>();
    for (int64_t o = 0; o < axis.outer; ++o)
      for (int64_t n = 0; n < axis.inner; ++n) {
        int64_t best = 0;
        for (int64_t i = 1; i < axis.size && !isNan(in[axis.at(o, best, n)]); ++i) {
          T value = in[axis.at(o, i, n)], champion = in[axis.at(o, best, n)];
          bool better = wantMax ? below(champion, value, type) : below(value, champion, type);
          if (isNan(value) || better || (op.getLastIndex() && value == champion)) best = i;
        }
        result[o * axis.inner + n] = best;
      }
  });
  return e.give(Tensor::ofIntegers(e.resultType(), std::move(result)));
}

mlir::LogicalResult evaluateCumulative(ir::CumulativeOp op, Evaluation &e) {
  Axis axis(e.operands[0].shape(), op.getAxis());
  mlir::Type type = e.operands[0].elementType();
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> in = e.operands[0].elements<T>();
    for (int64_t o = 0; o < axis.outer; ++o)
      for (int64_t n = 0; n < axis.inner; ++n) {
        T running = reduceStart(op.getKind(), type, T());
        for (int64_t i = 0; i < axis.size; ++i) {
          int64_t at = axis.at(o, op.getReverse() ? axis.size - 1 - i : i, n);
          T next = reduceStep(op.getKind(), type, running, in[at]);
          result[at] = op.getExclusive() ? running : next;
          running = next;
        }
      }
  });
}

mlir::LogicalResult evaluateTopK(ir::TopKOp op, Evaluation &e) {
  Axis axis(e.operands[0].shape(), op.getAxis());
  mlir::Type type = e.operands[0].elementType();
  int64_t k = op.getK();
  bool largest = op.getLargest();
  return byClass(e.operands[0], [&](auto zero) {
    using T = decltype(zero);
    Elements<T> in = e.operands[0].elements<T>();
    std::vector<T> values(e.resultType(0).getNumElements());
    std::vector<int64_t> picked(values.size()), order(axis.size);
    for (int64_t o = 0; o < axis.outer; ++o)
      for (int64_t n = 0; n < axis.inner; ++n) {
        std::iota(order.begin(), order.end(), 0);
        // NaN stands above every number; equal elements keep their order.
        auto lower = [&](int64_t i, int64_t j) {
          T a = in[axis.at(o, i, n)], b = in[axis.at(o, j, n)];
          return isNan(a) ? false : isNan(b) ? true : below(a, b, type);
        };
        std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
          bool before = largest ? lower(j, i) : lower(i, j), after = largest ? lower(i, j) : lower(j, i);
          return before || (!after && i < j);
        });
        for (int64_t i = 0; i < k; ++i) {
          int64_t to = (o * k + i) * axis.inner + n;
          picked[to] = order[i];
          values[to] = in[axis.at(o, order[i], n)];
        }
      }
    (void)e.give(Tensor::of<T>(e.resultType(0), std::move(values)));
    return e.give(Tensor::ofIntegers(e.resultType(1), std::move(picked)));
  });
}

} // namespace

void addReductions(EvaluatorTable &table) {
  table.add(evaluateReduce, evaluateReduceMean, evaluateArgReduce, evaluateCumulative, evaluateTopK);
}

} // namespace sprig::interp
