// Words of a depthwise convolution of bytes: the taps above each other at one column and channel, four to a word of 32
// bits, for one row of the result. They are made in scratch memory, the padding among them, so that what multiplies
// them sees a row without edges.
#pragma once
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"

namespace sprig::cpu {

class TapWords {
public:
  /// The words of `count` channels from `channel` on of a row of the result, for input columns [begin, begin +
  /// columns), which may lie in the padding. `fill` is what that counts as.
  struct Row {
    mlir::Value sample, depth, height; // of the result
    mlir::Value begin, channel;
    int64_t columns, count;
  };

  TapWords(KernelBuilder &kernel, const ConvGeometry &geometry, const kernel::DepthwisePlaces &places, int64_t fill,
           mlir::Value input, mlir::Value words)
      : k(kernel), g(geometry), places(places), fill(fill), input(input), words(words) {}

  /// Words of group `i` of taps, for column c and channel ch, go to [(i * columns + c) * count + ch] of the scratch
  /// memory; whole vectors may be written behind the last one.
  void make(const Row &row);

  /// Words behind the last one that may be read or written.
  static constexpr int64_t kSlack = 16;

private:
  struct Taps;
  void makeGroup(const Row &row, int64_t group, llvm::ArrayRef<Taps> taps);
  void copySpan(llvm::ArrayRef<Taps> taps, mlir::Value from, mlir::Value to, mlir::Value length);
  void fillSpan(mlir::Value from, mlir::Value to);
  mlir::Value load(const Taps &taps, mlir::Value from, int64_t bytes);
  void storeWords(llvm::ArrayRef<Taps> taps, mlir::Value from, mlir::Value to, int64_t bytes);

  KernelBuilder &k;
  const ConvGeometry &g;
  const kernel::DepthwisePlaces &places;
  int64_t fill;
  mlir::Value input, words; // 1-d
};

} // namespace sprig::cpu
