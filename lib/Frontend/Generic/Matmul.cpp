// nn.matmul: each element one chain of multiply-adds in ascending k from zero, or the sum of such chains in order
// (docs/numerics.md). The right side is laid out in panels, so that any of its layouts is read one way.
#include "lib/Frontend/Generic/Call.h"
#include "lib/Frontend/Generic/Scratch.h"
#include "lib/Frontend/Generic/VectorKernels.h"
#include <cstring>

namespace sprig::frontend::generic {

namespace {
/// More multiply-adds than this are left to compiled code, which shares them among threads.
constexpr double kMostProducts = 1e9;

/// A batched product by its shapes.
struct Product {
  Shape batch;
  int64_t leftStrides[Shape::kMaxRank], rightStrides[Shape::kMaxRank]; // per leading dimension; 0 where it repeats
  int64_t rows, columns, depth, matrices = 1;
  bool transposedLeft, transposedRight;

  explicit Product(const Call &call)
      : transposedLeft(call.has("transpose_lhs")), transposedRight(call.has("transpose_rhs")) {
    const Shape &result = call.resultType().shape, &left = call.shape(0);
    int rank = result.rank();
    rows = result[rank - 2];
    columns = result[rank - 1];
    depth = left[left.rank() - (transposedLeft ? 2 : 1)];
    for (int d = 0; d < rank - 2; ++d) {
      batch.push_back(result[d]);
      matrices *= result[d];
    }
    strides(left, leftStrides);
    strides(call.shape(1), rightStrides);
    // One matrix on the right and rows one after the other on the left: a single product.
    bool shared = !transposedLeft && left.elements() == matrices * rows * depth;
    for (int d = 0; d < batch.rank(); ++d) shared &= rightStrides[d] == 0;
    if (shared) {
      rows *= matrices;
      matrices = 1;
      batch = {};
    }
  }

  /// Where matrix number `index` begins.
  int64_t offset(int64_t index, const int64_t *strides) const {
    int64_t sum = 0;
    for (int d = batch.rank() - 1; d >= 0; --d) {
      sum += index % batch[d] * strides[d];
      index /= batch[d];
    }
    return sum;
  }

private:
  void strides(const Shape &shape, int64_t *to) const {
    int missing = batch.rank() + 2 - shape.rank();
    int64_t stride = shape[shape.rank() - 2] * shape[shape.rank() - 1];
    for (int d = 0; d < missing; ++d) to[d] = 0;
    for (int d = shape.rank() - 3; d >= 0; --d) {
      to[d + missing] = shape[d] == 1 ? 0 : stride;
      stride *= shape[d];
    }
  }
};

/// `depth` rows of kPanelWidth columns from (k, column) on; columns that are not there are zeros.
template <typename T>
void packPanel(T *panel, const T *right, const Product &p, int64_t k, int64_t depth, int64_t column, int64_t columns) {
  if (columns < kPanelWidth) std::memset(panel, 0, depth * kPanelWidth * sizeof(T));
  if (!p.transposedRight) {
    for (int64_t i = 0; i < depth; ++i)
      std::memcpy(panel + i * kPanelWidth, right + (k + i) * p.columns + column, columns * sizeof(T));
    return;
  }
  constexpr int64_t kSquare = 8;
  for (int64_t i = 0; i < depth; i += kSquare)
    for (int64_t j = 0; j < columns; ++j) {
      const T *from = right + (column + j) * p.depth + k;
      for (int64_t n = i; n < std::min(i + kSquare, depth); ++n) panel[n * kPanelWidth + j] = from[n];
    }
}

template <typename T> void multiplyMatrices(const Product &p, const T *left, const T *right, T *result) {
  auto multiply = vectorKernels().of<T>().multiply;
  int64_t part = p.depth > kLongestChain ? kChainPart : p.depth;
  Scratch<T> panel(std::max<int64_t>(part, 1) * kPanelWidth);
  if (p.depth > kLongestChain || p.depth == 0)
    for (int64_t i = 0; i < p.matrices * p.rows * p.columns; ++i) result[i] = 0;
  for (int64_t matrix = 0; matrix < p.matrices; ++matrix) {
    const T *a = left + p.offset(matrix, p.leftStrides), *b = right + p.offset(matrix, p.rightStrides);
    T *c = result + matrix * p.rows * p.columns;
    for (int64_t column = 0; column < p.columns; column += kPanelWidth) {
      int64_t columns = std::min(kPanelWidth, p.columns - column);
      for (int64_t k = 0; k < p.depth; k += part) {
        int64_t depth = std::min(part, p.depth - k);
        packPanel(panel.data(), b, p, k, depth, column, columns);
        int64_t rowStride = p.transposedLeft ? 1 : p.depth, step = p.transposedLeft ? p.rows : 1;
        multiply({a + k * step, rowStride, step, panel.data(), c + column, p.columns, p.rows, depth, columns,
                  /*adds=*/p.depth > kLongestChain});
      }
    }
  }
}

/// Integers wrap, so any order will do.
template <typename T> void multiplyIntegers(const Product &p, const T *left, const T *right, T *result) {
  int64_t leftRow = p.transposedLeft ? 1 : p.depth, leftStep = p.transposedLeft ? p.rows : 1;
  int64_t rightStep = p.transposedRight ? 1 : p.columns, rightColumn = p.transposedRight ? p.depth : 1;
  for (int64_t matrix = 0; matrix < p.matrices; ++matrix) {
    const T *a = left + p.offset(matrix, p.leftStrides), *b = right + p.offset(matrix, p.rightStrides);
    T *c = result + matrix * p.rows * p.columns;
    std::memset(c, 0, p.rows * p.columns * sizeof(T));
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t k = 0; k < p.depth; ++k) {
        T factor = a[i * leftRow + k * leftStep];
        for (int64_t j = 0; j < p.columns; ++j) c[i * p.columns + j] += factor * b[k * rightStep + j * rightColumn];
      }
  }
}
} // namespace

bool runMatmul(const Call &call, int) {
  Product p(call);
  if (double(p.matrices) * double(p.rows) * double(p.columns) * double(p.depth) > kMostProducts) return false;
  if (call.resultType().elements() == 0) return true;
  auto typed = [&](auto run, auto kind) {
    using T = decltype(kind);
    run(p, reinterpret_cast<const T *>(call.in(0)), reinterpret_cast<const T *>(call.in(1)),
        reinterpret_cast<T *>(call.out()));
    return true;
  };
  auto floats = [](auto &&...arguments) { multiplyMatrices(arguments...); };
  auto integers = [](auto &&...arguments) { multiplyIntegers(arguments...); };
  switch (call.resultType().dtype) {
  case DType::f32: return typed(floats, float());
  case DType::f64: return typed(floats, double());
  case DType::f16:
  case DType::bf16: return throughF32(call, [](const Call &wide) { return runMatmul(wide, 0); });
  case DType::i64:
  case DType::u64: return typed(integers, uint64_t());
  case DType::i32:
  case DType::u32: return typed(integers, uint32_t());
  default: return false;
  }
}

} // namespace sprig::frontend::generic
