#include "lib/Target/CPU/Layout/WinogradFilter.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

static constexpr int64_t kWidth = kPanelWidth;

namespace {
/// One panel's columns of a filter: [rows][32] in double precision, a row apart by `step` rows of a larger array.
struct Rows {
  double *first;
  int64_t step;
  double *at(int64_t row) const { return first + row * step * kWidth; }
};
} // namespace

/// result[i] = sum over k of matrix[i][k] * source[k], in ascending k. Compiled without contraction (CMakeLists.txt),
/// so that every instruction set gives the same bits.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void
multiply(const double *matrix, int64_t rows, int64_t depth, Rows source, Rows result) {
  for (int64_t i = 0; i < rows; ++i) {
    double sums[kWidth] = {};
    for (int64_t k = 0; k < depth; ++k) {
      double factor = matrix[i * depth + k];
      if (factor == 0) continue;
      const double *from = source.at(k);
      for (int64_t j = 0; j < kWidth; ++j) sums[j] += factor * from[j];
    }
    std::copy(sums, sums + kWidth, result.at(i));
  }
}

ElementsAttr sprig::transformFilter(ElementsAttr filter, const kernel::WinogradLine &vertical,
                                    const kernel::WinogradLine &horizontal) {
  ir::ConstantView view(filter);
  ArrayRef<int64_t> shape = view.type().getShape();
  int64_t outputs = shape[0], channels = shape[1], height = shape[2], width = shape[3], taps = height * width;
  int64_t lines = vertical.frequencies(), columns = horizontal.frequencies();
  int64_t panels = llvm::divideCeil(outputs, kWidth), depth = lines * columns * channels;
  auto type = RankedTensorType::get({panels, depth, kWidth}, view.elementType());
  std::vector<char> expanded, bytes(type.getNumElements() * sizeof(float), 0);
  if (view.isSplat()) expanded = view.expanded();
  const float *source = reinterpret_cast<const float *>(view.isSplat() ? expanded.data() : view.bytes().data());
  float *result = reinterpret_cast<float *>(bytes.data());
  std::vector<double> down = vertical.filterMatrix(), across = horizontal.filterMatrix();
  std::vector<double> values(taps * kWidth), half(lines * width * kWidth), full(lines * columns * kWidth);
  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t channel = 0; channel < channels; ++channel) {
      std::fill(values.begin(), values.end(), 0.0);
      for (int64_t j = 0; j < std::min(kWidth, outputs - panel * kWidth); ++j) {
        const float *from = source + ((panel * kWidth + j) * channels + channel) * taps;
        for (int64_t tap = 0; tap < taps; ++tap) values[tap * kWidth + j] = from[tap];
      }
      for (int64_t x = 0; x < width; ++x)
        multiply(down.data(), lines, height, {values.data() + x * kWidth, width}, {half.data() + x * kWidth, width});
      for (int64_t i = 0; i < lines; ++i)
        multiply(across.data(), columns, width, {half.data() + i * width * kWidth, 1},
                 {full.data() + i * columns * kWidth, 1});
      for (int64_t f = 0; f < lines * columns; ++f) {
        float *to = result + ((panel * lines * columns + f) * channels + channel) * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) to[j] = static_cast<float>(full[f * kWidth + j]);
      }
    }
  return ir::makeConstant(type, std::move(bytes));
}
