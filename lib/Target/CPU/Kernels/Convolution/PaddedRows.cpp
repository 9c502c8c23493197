#include "lib/Target/CPU/Kernels/Convolution/PaddedRows.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// How many inputs of a dimension so many neighbours of the result read.
static int64_t reach(const ConvGeometry &g, int d, int64_t outputs) {
  return (outputs - 1) * g.stride[d] + (g.window[d] - 1) * g.dilation[d] + 1;
}

PaddedRows::PaddedRows(const ConvGeometry &geometry, int64_t channels, int64_t height)
    : g(geometry), channels(channels), rows(reach(geometry, 1, height)), columns(reach(geometry, 2, geometry.out[2])) {}

static constexpr int64_t kMostBytes = 64 * 1024;

bool PaddedRows::areFor(const ConvGeometry &g, int64_t channels) {
  return g.hasPadding(2) && g.in[0] == 1 && g.out[0] == 1 && g.window[0] == 1 &&
         PaddedRows(g, channels, 1).bytes() <= kMostBytes;
}

int64_t PaddedRows::together(const ConvGeometry &g, int64_t channels, int64_t height) {
  while (height > 1 && PaddedRows(g, channels, height).bytes() > kMostBytes) height = (height + 1) / 2;
  return height;
}

// Bytes whose count is known: vectors of 64, and the rest as one.
static void forParts(KernelBuilder &k, int64_t bytes, llvm::function_ref<void(Value at, VectorType type)> body) {
  constexpr int64_t kPart = 64;
  Type i8 = k.b.getI8Type();
  int64_t whole = bytes / kPart * kPart;
  k.loop(k.index(0), k.index(whole), kPart, [&](Value at) { body(at, VectorType::get({kPart}, i8)); });
  if (whole < bytes) body(k.index(whole), VectorType::get({bytes - whole}, i8));
}

static void copyBytes(KernelBuilder &k, Value from, Value source, Value to, Value target, int64_t bytes) {
  forParts(k, bytes, [&](Value at, VectorType type) {
    Value part = vector::LoadOp::create(k.b, k.loc, type, from, k.add(source, at));
    vector::StoreOp::create(k.b, k.loc, part, to, k.add(target, at));
  });
}

static void clearBytes(KernelBuilder &k, Value to, Value target, int64_t bytes) {
  forParts(k, bytes, [&](Value at, VectorType type) {
    vector::StoreOp::create(k.b, k.loc, k.zero(type.getElementType(), type.getNumElements()), to, k.add(target, at));
  });
}

void PaddedRows::copy(KernelBuilder &k, Value input, Value target, Value sample, Value firstChannel, Value begin,
                      Value end) const {
  const int64_t before = std::clamp<int64_t>(g.low[2], 0, columns), skipped = std::max<int64_t>(-g.low[2], 0);
  const int64_t inside = std::clamp<int64_t>(columns - before, 0, g.in[2] - skipped);
  Value first = k.sub(k.mul(begin, g.stride[1]), k.index(g.low[1]));
  Value last = k.add(k.sub(k.mul(end, g.stride[1]), k.index(g.low[1])), reach(g, 1, 1) - g.stride[1]);
  k.loop(k.max(first, k.index(0)), k.min(last, k.index(g.in[1])), 1, [&](Value row) {
    Value to = k.mul(k.sub(row, first), rowBytes());
    Value source =
        k.linearize({sample, row, k.index(skipped), firstChannel}, {g.batch, g.in[1], g.in[2], g.inputChannels});
    clearBytes(k, target, to, before * channels);
    Value column = k.add(to, before * channels);
    if (channels == g.inputChannels)
      copyBytes(k, input, source, target, column, inside * channels);
    else
      k.loop(k.index(0), k.index(inside), 1, [&](Value i) {
        copyBytes(k, input, k.add(source, k.mul(i, g.inputChannels)), target, k.add(column, k.mul(i, channels)),
                  channels);
      });
    clearBytes(k, target, k.add(column, inside * channels), (columns - before - inside) * channels);
  });
}

Value PaddedRows::at(KernelBuilder &k, Value height, Value tapHeight) const {
  return k.mul(k.add(k.mul(height, g.stride[1]), k.mul(tapHeight, g.dilation[1])), rowBytes());
}
