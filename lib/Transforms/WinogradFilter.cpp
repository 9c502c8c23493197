#include "lib/Transforms/WinogradFilter.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NN.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

static constexpr int64_t kWidth = nn::kPanelWidth;

/// result[i][j] += sum over k of matrix[i][k] * source[k * step + j] for the panel's 32 columns j.
static void multiplyRows(const std::vector<double> &matrix, int64_t rows, int64_t depth, const double *source,
                         int64_t step, double *result, int64_t resultStep) {
  for (int64_t i = 0; i < rows; ++i) {
    double *to = result + i * resultStep;
    std::fill(to, to + kWidth, 0.0);
    for (int64_t k = 0; k < depth; ++k) {
      double factor = matrix[i * depth + k];
      const double *from = source + k * step;
      for (int64_t j = 0; j < kWidth; ++j) to[j] += factor * from[j];
    }
  }
}

ElementsAttr sprig::transformFilter(ElementsAttr filter, const nn::WinogradLine &vertical,
                                    const nn::WinogradLine &horizontal) {
  nn::ConstantView view(filter);
  ArrayRef<int64_t> shape = view.type().getShape();
  int64_t outputs = shape[0], channels = shape[1], height = shape[2], width = shape[3], taps = height * width;
  int64_t lines = vertical.frequencies(), columns = horizontal.frequencies();
  int64_t panels = llvm::divideCeil(outputs, kWidth), depth = lines * columns * channels;
  auto type = RankedTensorType::get({panels, depth, kWidth}, view.elementType());
  std::vector<char> sourceBytes = view.expanded(), bytes(type.getNumElements() * sizeof(float), 0);
  const float *source = reinterpret_cast<const float *>(sourceBytes.data());
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
        multiplyRows(down, lines, height, values.data() + x * kWidth, width * kWidth, half.data() + x * kWidth,
                     width * kWidth);
      for (int64_t i = 0; i < lines; ++i)
        multiplyRows(across, columns, width, half.data() + i * width * kWidth, kWidth,
                     full.data() + i * columns * kWidth, kWidth);
      for (int64_t f = 0; f < lines * columns; ++f) {
        float *to = result + ((panel * lines * columns + f) * channels + channel) * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) to[j] = static_cast<float>(full[f * kWidth + j]);
      }
    }
  return nn::makeConstant(type, std::move(bytes));
}
