#include "lib/Target/CPU/Layout/WinogradCost.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/Kernel/Winograd.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace sprig;
using namespace sprig::cpu;

// Chains of eight frequencies lose the most digits: longer sums than this leave the stated bound.
static constexpr int64_t kMostChannelsOfEight = 128;

namespace {
constexpr double kLanes = 16;
constexpr double kSecondLevel = 768 << 10, kThirdLevel = 16 << 20;

double vectorsOf(int64_t channels) { return llvm::divideCeil(channels, int64_t(kLanes)); }

/// Cycles to read weights `passes` times, partly hidden behind arithmetic.
double streaming(double bytes, double passes, int64_t networkBytes) {
  double first = networkBytes > kThirdLevel ? bytes / 5 : bytes > kSecondLevel ? bytes / 14 : 0;
  double again = bytes > kThirdLevel ? bytes / 8 : bytes > kSecondLevel ? bytes / 20 : 0;
  return 0.6 * (first + std::max(passes - 1, 0.0) * again);
}

/// Pairs of an output and a tap of one dimension that meet an input.
double meetings(int64_t outputs, int64_t inputs, int64_t window, int64_t low) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < window; ++tap) {
    int64_t first = std::max<int64_t>(0, low - tap), end = std::min(outputs, inputs + low - tap);
    count += std::max<int64_t>(end - first, 0);
  }
  return double(count);
}

double directProducts(const ConvShape &s) {
  return double(s.batch) * meetings(s.outHeight, s.height, s.window[0], s.low[0]) *
         meetings(s.outWidth, s.width, s.window[1], s.low[1]) * double(s.channels);
}

double directCycles(const ConvShape &s) {
  double positions = double(s.batch) * s.outHeight * s.outWidth;
  double bytes = 4.0 * s.window[0] * s.window[1] * s.channels * llvm::alignTo(s.outputs, 16);
  return (directProducts(s) / 0.88 + 4 * positions) * vectorsOf(s.outputs) + streaming(bytes, 1, s.networkBytes);
}

double products(const ConvShape &s, double tiles, double frequencies) { return tiles * frequencies * s.channels; }

double winogradCycles(const ConvShape &s, const kernel::WinogradLine &v, const kernel::WinogradLine &h) {
  int64_t tileRows = llvm::divideCeil(s.outHeight, v.outputs()),
          tileColumns = llvm::divideCeil(s.outWidth, h.outputs());
  double tiles = double(s.batch) * tileRows * tileColumns, fv = v.frequencies(), fh = h.frequencies();
  // Each line of a transform: its loads, about two operations and a store of two cycles for each value.
  double input = (h.outputs() * fv + fv * fh) * 5,
         output = fh * (3 * fv + 2 * v.outputs()) + v.outputs() * (3 * fh + 3 * h.outputs());
  double gemm = (products(s, tiles, fv * fh) / 0.85 + 4 * tiles * fv * fh) * vectorsOf(s.outputs);
  double bytes = 4.0 * fv * fh * s.channels * llvm::alignTo(s.outputs, 32);
  double blockRows = std::clamp(768.0 * 1024 / (fv * fh * (s.channels + llvm::alignTo(s.outputs, 32)) * 4), 28.0, 56.0);
  // What a block's setting-up costs beside its tiles.
  return gemm + tiles * (vectorsOf(s.channels) * input + vectorsOf(s.outputs) * output) +
         streaming(bytes, std::max(tiles / blockRows, 1.0), s.networkBytes) + 2000;
}
} // namespace

std::optional<WinogradChoice> sprig::cpu::cheapestWinograd(const ConvShape &shape) {
  std::optional<WinogradChoice> best;
  for (int64_t v : {1, 2, 4, 6})
    for (int64_t h : {1, 2, 4, 6}) {
      auto vertical = kernel::WinogradLine::get(v, shape.window[0]),
           horizontal = kernel::WinogradLine::get(h, shape.window[1]);
      if (!vertical || !horizontal) continue;
      bool isEight = std::max(vertical->frequencies(), horizontal->frequencies()) == 8;
      // Six outputs of three taps have the error of eight frequencies and save little over four.
      if (std::max(v, h) == 6 || (isEight && shape.channels > kMostChannelsOfEight)) continue;
      double cycles = winogradCycles(shape, *vertical, *horizontal);
      double gain = directCycles(shape) / cycles;
      if (best && best->gain >= gain) continue;
      double tiles = double(shape.batch) * llvm::divideCeil(shape.outHeight, v) * llvm::divideCeil(shape.outWidth, h);
      double made = products(shape, tiles, double(vertical->frequencies() * horizontal->frequencies()));
      best = WinogradChoice{{v, h}, gain, directProducts(shape) / made};
    }
  return best;
}
