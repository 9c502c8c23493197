// Matrix products. The right side is read in panels of columns, so that a large weight is never a whole array of
// doubles.
#include "lib/Interpreter/Evaluation.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "lib/Interpreter/Gemm.h"
#include "lib/Interpreter/Numbers.h"

namespace sprig::interp {
namespace {

constexpr int64_t kPanel = 128;

// A matrix inside a tensor, from element `offset` on.
struct Matrix {
  const Tensor &tensor;
  int64_t offset, rows, columns;
  bool transposed;

  // Copies columns [first, first + width) to `out`, row-major with `width` columns.
  template <typename T> void panel(int64_t first, int64_t width, T *out) const {
    if (!transposed) {
      for (int64_t r = 0; r < rows; ++r) tensor.load(offset + r * columns + first, width, out + r * width);
      return;
    }
    std::vector<T> column(rows);
    for (int64_t j = 0; j < width; ++j) {
      tensor.load(offset + (first + j) * rows, rows, column.data());
      for (int64_t r = 0; r < rows; ++r) out[r * width + j] = column[r];
    }
  }
};

// c = lhs * rhs
template <typename T> void multiply(const Matrix &lhs, const Matrix &rhs, T *c) {
  int64_t m = lhs.rows, n = rhs.columns, k = lhs.columns;
  std::vector<T> a(m * k), b(k * std::min(n, kPanel));
  lhs.panel(0, k, a.data());
  for (int64_t first = 0; first < n; first += kPanel) {
    int64_t width = std::min(kPanel, n - first);
    rhs.panel(first, width, b.data());
    multiplyAdd(m, width, k, a.data(), k, b.data(), width, c + first, n);
  }
}

mlir::LogicalResult evaluateMatmul(ir::MatmulOp op, Evaluation &e) {
  const Tensor &lhs = e.operands[0], &rhs = e.operands[1];
  llvm::ArrayRef<int64_t> shape = e.resultType().getShape();
  auto sizes = [](const Tensor &t, bool transposed) {
    auto last = t.shape().take_back(2);
    return transposed ? std::pair(last[1], last[0]) : std::pair(last[0], last[1]);
  };
  auto [m, k] = sizes(lhs, op.getTransposeLhs());
  int64_t n = sizes(rhs, op.getTransposeRhs()).second;
  std::array<Strides, 2> strides = {broadcastStrides(lhs.shape().drop_back(2), shape.drop_back(2)),
                                    broadcastStrides(rhs.shape().drop_back(2), shape.drop_back(2))};
  return giveLike(lhs, e, [&]<typename T>(std::vector<T> &result) {
    // Batches that share one right side are one product of more rows.
    if (rhs.rank() == 2 && !op.getTransposeLhs())
      multiply<T>({lhs, 0, product(shape.drop_back()), k, false}, {rhs, 0, k, n, op.getTransposeRhs()}, result.data());
    else
      walk(shape.drop_back(2), strides, [&](int64_t batch, const std::array<int64_t, 2> &at) {
        multiply<T>({lhs, at[0] * m * k, m, k, op.getTransposeLhs()}, {rhs, at[1] * k * n, k, n, op.getTransposeRhs()},
                    result.data() + batch * m * n);
      });
    wrapAll(result, e.resultType().getElementType());
  });
}

mlir::LogicalResult evaluateMatmulParts(kernel::MatmulPartsOp, Evaluation &e) {
  const Tensor &lhs = e.operands[0], &rhs = e.operands[1];
  int64_t k = lhs.shape()[0], m = lhs.shape()[1], n = rhs.shape()[1];
  return giveLike(lhs, e, [&]<typename T>(std::vector<T> &result) {
    for (int64_t first = 0; first < k; first += kChainPart) {
      int64_t rows = std::min(kChainPart, k - first);
      multiply<T>({lhs, first * m, m, rows, true}, {rhs, first * n, rows, n, false},
                  result.data() + first / kChainPart * m * n);
    }
  });
}

mlir::LogicalResult evaluateLinear(ir::LinearOp op, Evaluation &e) {
  int64_t k = e.operands[1].shape()[1], n = e.operands[1].shape()[0];
  std::vector<double> result(e.resultType().getNumElements());
  int64_t rows = product(e.resultType().getShape().drop_back());
  multiply<double>({e.operands[0], 0, rows, k, false}, {e.operands[1], 0, k, n, true}, result.data());
  if (op.getBias()) {
    Elements<double> bias = e.operands[2].floats();
    for (size_t i = 0; i < result.size(); ++i) result[i] += bias[i % n];
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

mlir::LogicalResult evaluatePack(kernel::PackOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0];
  if (operand.isSplat() && operand.count()) return e.give(operand.reshaped(e.resultType()));
  bool transposed = op.getTransposed();
  int64_t k = operand.shape()[transposed ? 1 : 0], n = operand.shape()[transposed ? 0 : 1];
  int64_t group = n / op.getGroups(), panels = (group + kPanelWidth - 1) / kPanelWidth;
  kernel::PanelPlaces places{k, std::max<int64_t>(k, 1), int64_t(op.getInterleave())};
  return giveLike(operand, e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> in = operand.elements<T>();
    for (int64_t column = 0; column < n; ++column) {
      int64_t g = column / group, inGroup = column % group;
      int64_t panel = (g * panels + inGroup / kPanelWidth) * places.size();
      for (int64_t row = 0; row < k; ++row)
        result[panel + places.at(row, inGroup % kPanelWidth)] = in[transposed ? column * k + row : row * n + column];
    }
  });
}

mlir::LogicalResult evaluateMatmulPacked(kernel::MatmulPackedOp op, Evaluation &e) {
  const Tensor &lhs = e.operands[0], &panels = e.operands[1];
  int64_t k = lhs.shape().back(), n = op.getColumns();
  int64_t m = product(lhs.shape().drop_back());
  kernel::PanelPlaces places{k, std::max<int64_t>(k, 1), kernel::interleaveIn(panels.shape())};
  kernel::NarrowPlaces halves{k, 4};
  std::optional<int64_t> lowest = op.getLowest();
  return giveLike(lhs, e, [&]<typename T>(std::vector<T> &result) {
    std::vector<T> a(m * k), b(k * kPanelWidth), packed(lowest ? halves.size() : places.size());
    auto number = [&](int64_t row, int64_t column) {
      if (!lowest) return packed[places.at(row, column)];
      return T(int64_t(packed[halves.byteAt(row, column)]) >> halves.shiftOf(row) & 15) + T(*lowest);
    };
    lhs.load(0, m * k, a.data());
    for (int64_t p = 0; p < panels.shape()[0]; ++p) {
      int64_t first = p * kPanelWidth, width = std::min(kPanelWidth, n - first);
      panels.load(p * packed.size(), packed.size(), packed.data());
      for (int64_t row = 0; row < k; ++row)
        for (int64_t j = 0; j < kPanelWidth; ++j) b[row * kPanelWidth + j] = number(row, j);
      multiplyAdd(m, width, k, a.data(), k, b.data(), kPanelWidth, result.data() + first, n);
    }
    wrapAll(result, e.resultType().getElementType());
  });
}

/// Codes of a few bits with scales and zero points of groups of rows: a panel at a time.
class CodePanels {
public:
  CodePanels(Evaluation &e, unsigned first, int64_t depth, int64_t bits, int64_t group, int64_t zero)
      : codes(e.operands[first]), places{depth, bits}, group(group), groups(e.operands[first + 1].shape()[1]),
        zero(zero), scales(e.operands[first + 1].floats()), packed(places.size()) {
    if (e.operands.size() > first + 2) zeros = e.operands[first + 2].integers();
  }

  int64_t panels() const { return codes.shape()[0]; }
  void read(int64_t panel) {
    first = panel * groups;
    codes.load(panel * places.size(), places.size(), packed.data());
  }
  /// Less the zero point.
  int64_t number(int64_t row, int64_t column) const {
    int64_t code = packed[places.byteAt(row, column)] >> places.shiftOf(row) & ((int64_t(1) << places.bits) - 1);
    return code - (zeros ? (*zeros)[at(row, column)] : zero);
  }
  double scale(int64_t row, int64_t column) const { return scales[at(row, column)]; }

private:
  int64_t at(int64_t row, int64_t column) const { return (first + row / group) * kPanelWidth + column; }

  const Tensor &codes;
  kernel::NarrowPlaces places;
  int64_t group, groups, zero, first = 0;
  Elements<double> scales;
  std::optional<Elements<int64_t>> zeros;
  std::vector<int64_t> packed;
};

mlir::LogicalResult evaluateMatmulNarrow(kernel::MatmulNarrowOp op, Evaluation &e) {
  const Tensor &lhs = e.operands[0];
  int64_t k = lhs.shape().back(), n = op.getColumns(), m = product(lhs.shape().drop_back());
  CodePanels panels(e, 1, k, op.getBits(), op.getGroup(), op.getZero());
  std::vector<double> result(m * n), a(m * k), b(k * kPanelWidth);
  lhs.load(0, m * k, a.data());
  for (int64_t p = 0; p < panels.panels(); ++p) {
    int64_t first = p * kPanelWidth, width = std::min(kPanelWidth, n - first);
    panels.read(p);
    for (int64_t row = 0; row < k; ++row)
      for (int64_t j = 0; j < kPanelWidth; ++j)
        b[row * kPanelWidth + j] = double(panels.number(row, j)) * panels.scale(row, j);
    multiplyAdd(m, width, k, a.data(), k, b.data(), kPanelWidth, result.data() + first, n);
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

mlir::LogicalResult evaluateMatmulNarrowDot(kernel::MatmulNarrowDotOp op, Evaluation &e) {
  const Tensor &lhs = e.operands[0];
  int64_t k = lhs.shape().back(), n = op.getColumns(), m = product(lhs.shape().drop_back()), group = op.getGroup();
  CodePanels panels(e, 2, k, /*bits=*/4, group, op.getZero());
  Elements<int64_t> x = lhs.integers();
  Elements<double> scales = e.operands[1].floats();
  std::vector<double> result(m * n);
  for (int64_t p = 0; p < panels.panels(); ++p) {
    panels.read(p);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t j = 0; j < std::min(kPanelWidth, n - p * kPanelWidth); ++j)
        for (int64_t begin = 0; begin < k; begin += group) {
          int64_t sum = 0;
          for (int64_t i = begin; i < begin + group; ++i) sum += x[row * k + i] * panels.number(i, j);
          double scale = scales[(row * k + begin) / group] * panels.scale(begin, j);
          result[row * n + p * kPanelWidth + j] += double(sum) * scale;
        }
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

} // namespace

void addContractions(EvaluatorTable &table) {
  table.add(evaluateMatmul, evaluateMatmulParts, evaluateLinear, evaluatePack, evaluateMatmulPacked,
            evaluateMatmulNarrow, evaluateMatmulNarrowDot);
}

} // namespace sprig::interp
