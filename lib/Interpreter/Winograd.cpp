// kernel.conv_winograd by its definition: every tile to frequencies, a product over the channels for each, and back.
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Winograd.h"
#include "lib/Interpreter/Evaluation.h"

namespace sprig::interp {
namespace {

using DenseMatrix = std::vector<double>;

// left [a, n] times block [n, n2] times the transpose of right [b, n2].
DenseMatrix transform(const DenseMatrix &left, int64_t a, const DenseMatrix &right, int64_t b, const DenseMatrix &block,
                      int64_t n, int64_t n2) {
  DenseMatrix half(a * n2, 0), result(a * b, 0);
  for (int64_t i = 0; i < a; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n2; ++j) half[i * n2 + j] += left[i * n + k] * block[k * n2 + j];
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j)
      for (int64_t k = 0; k < n2; ++k) result[i * b + j] += half[i * n2 + k] * right[j * n2 + k];
  return result;
}

struct Winograd {
  kernel::WinogradLine lines[2];
  llvm::ArrayRef<int64_t> in, out;
  int64_t low[2];
  DenseMatrix inputs[2], outputs[2];

  Winograd(kernel::ConvWinogradOp op, llvm::ArrayRef<int64_t> in, llvm::ArrayRef<int64_t> out)
      : lines{*kernel::WinogradLine::get(op.getTile()[0], op.getWindow()[0]),
              *kernel::WinogradLine::get(op.getTile()[1], op.getWindow()[1])},
        in(in), out(out), low{op.getPadding()[0], op.getPadding()[1]} {
    for (int d = 0; d < 2; ++d) {
      inputs[d] = lines[d].inputMatrix();
      outputs[d] = lines[d].outputMatrix();
    }
  }
  int64_t frequencies() const { return lines[0].frequencies() * lines[1].frequencies(); }

  // The frequencies of one channel of the tile whose first output is (y, x).
  DenseMatrix frequenciesOf(const Elements<double> &values, int64_t sample, int64_t channel, int64_t y,
                            int64_t x) const {
    int64_t h = lines[0].frequencies(), w = lines[1].frequencies();
    DenseMatrix block(h * w, 0);
    for (int64_t i = 0; i < h; ++i)
      for (int64_t j = 0; j < w; ++j) {
        int64_t row = y + i - low[0], column = x + j - low[1];
        if (row < 0 || row >= in[1] || column < 0 || column >= in[2]) continue;
        block[i * w + j] = values[((sample * in[1] + row) * in[2] + column) * in[3] + channel];
      }
    return transform(inputs[0], h, inputs[1], w, block, h, w);
  }

  // Writes one channel of a tile from its frequencies, as far as it lies in the result.
  void give(const DenseMatrix &products, int64_t sample, int64_t channel, int64_t y, int64_t x,
            DenseMatrix &result) const {
    int64_t h = lines[0].outputs(), w = lines[1].outputs();
    DenseMatrix block =
        transform(outputs[0], h, outputs[1], w, products, lines[0].frequencies(), lines[1].frequencies());
    for (int64_t i = 0; i < h && y + i < out[1]; ++i)
      for (int64_t j = 0; j < w && x + j < out[2]; ++j)
        result[((sample * out[1] + y + i) * out[2] + x + j) * out[3] + channel] = block[i * w + j];
  }
};

mlir::LogicalResult evaluateConvWinograd(kernel::ConvWinogradOp op, Evaluation &e) {
  Winograd winograd(op, e.operands[0].shape(), e.resultType().getShape());
  Elements<double> in = e.operands[0].floats(), panels = e.operands[1].floats();
  llvm::ArrayRef<int64_t> out = winograd.out;
  int64_t channels = winograd.in[3], frequencies = winograd.frequencies(), depth = frequencies * channels;
  DenseMatrix result(e.resultType().getNumElements(), 0);
  for (int64_t sample = 0; sample < out[0]; ++sample)
    for (int64_t y = 0; y < out[1]; y += winograd.lines[0].outputs())
      for (int64_t x = 0; x < out[2]; x += winograd.lines[1].outputs()) {
        std::vector<DenseMatrix> tile;
        for (int64_t c = 0; c < channels; ++c) tile.push_back(winograd.frequenciesOf(in, sample, c, y, x));
        for (int64_t o = 0; o < out[3]; ++o) {
          DenseMatrix products(frequencies, 0);
          for (int64_t f = 0; f < frequencies; ++f)
            for (int64_t c = 0; c < channels; ++c)
              products[f] +=
                  tile[c][f] * panels[(o / kPanelWidth * depth + f * channels + c) * kPanelWidth + o % kPanelWidth];
          winograd.give(products, sample, o, y, x, result);
        }
      }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

} // namespace

void addWinograd(EvaluatorTable &table) { table.add(evaluateConvWinograd); }

} // namespace sprig::interp
