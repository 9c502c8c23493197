// Matrices of a warp: ldmatrix, stmatrix, mma.sync.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <bit>
#include <cmath>
#include <cstring>

using namespace sprig::gpu;

namespace {
struct MatrixAccess {
  uint64_t address;
  uint32_t count;
  bool isTransposed, isStore;
  uint32_t *words;
};
struct Product {
  uint32_t kind;
  const uint32_t *a, *b, *c;
  uint32_t *d;
};
} // namespace

static void requireWholeWarp(Block &block, Warp &warp, uint32_t lanes, uint32_t line) {
  if (lanes == ~0u) return;
  const Thread &thread = *warp.lanes[__builtin_ctz(lanes)];
  block.fail(Fault::Divergence, &thread, line, 0,
             block.where(thread) + " multiplies matrices in a warp that is not whole");
}

// Lane 8 m + r has the address of row r of matrix m; lane l holds two elements of row l / 4 of each.
static void performMatrixAccess(Block &block, Warp &warp, uint32_t lanes, uint32_t line) {
  requireWholeWarp(block, warp, lanes, line);
  const MatrixAccess &first = Block::exchangeOf<MatrixAccess>(warp, 0);
  for (unsigned matrix = 0; matrix < first.count; ++matrix) {
    uint16_t elements[8][8];
    if (first.isStore)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned half = 0; half < 2; ++half) {
          unsigned row = lane / 4, column = lane % 4 * 2 + half;
          (first.isTransposed ? elements[column][row] : elements[row][column]) =
              uint16_t(Block::exchangeOf<MatrixAccess>(warp, lane).words[matrix] >> (16 * half));
        }
    for (unsigned row = 0; row < 8; ++row) {
      Thread &owner = *warp.lanes[matrix * 8 + row];
      uint64_t address = Block::exchangeOf<MatrixAccess>(warp, matrix * 8 + row).address;
      uint32_t flags = SPRIG_GPU_SHARED | (first.isStore ? uint32_t(SPRIG_GPU_WRITE) : 0);
      if (block.isChecked())
        block.accessShared(owner, address, 16, flags, line);
      else
        block.checkSharedBounds(owner, address, 16, line, " has as a row ");
      if (first.isStore)
        std::memcpy(block.shared(address), elements[row], 16);
      else
        std::memcpy(elements[row], block.shared(address), 16);
    }
    if (first.isStore) continue;
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      uint32_t low = first.isTransposed ? elements[column][row] : elements[row][column];
      uint32_t high = first.isTransposed ? elements[column + 1][row] : elements[row][column + 1];
      Block::exchangeOf<MatrixAccess>(warp, lane).words[matrix] = low | high << 16;
    }
  }
}
void hooks_impl::loadMatrix(SprigGpuThread *self, uint64_t address, uint32_t count, uint32_t transposed,
                            uint32_t *result, uint32_t line) {
  Thread &thread = Block::thread(self);
  MatrixAccess access{address, count, transposed != 0, false, result};
  thread.owner->meet(thread, ~0u, line, access, performMatrixAccess);
}
void hooks_impl::storeMatrix(SprigGpuThread *self, uint64_t address, uint32_t count, uint32_t transposed,
                             const uint32_t *value, uint32_t line) {
  Thread &thread = Block::thread(self);
  MatrixAccess access{address, count, transposed != 0, true, const_cast<uint32_t *>(value)};
  thread.owner->meet(thread, ~0u, line, access, performMatrixAccess);
}

static float halfToFloat(uint32_t half) {
  uint32_t magnitude = half & 0x7fff;
  float value = magnitude >= 0x7c00 ? std::bit_cast<float>(0x7f800000 | (magnitude & 0x3ff) << 13)
                                    : std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return half & 0x8000 ? -value : value;
}

namespace {
struct Shape {
  unsigned k, elements, a, b; // columns of A; elements, and words of A and B, of a lane
};
} // namespace
static const Shape shapes[] = {{4, 1, 2, 1},  {8, 1, 4, 2},  {8, 2, 2, 1},  {8, 2, 2, 1},
                               {16, 2, 4, 2}, {16, 2, 4, 2}, {16, 4, 2, 1}, {32, 4, 4, 2}};

// The element `index` of a word, as the shape's operands have them.
static double element(MatrixKind kind, bool isUnsigned, uint32_t word, unsigned index) {
  switch (kind) {
  case MatrixKind::M16N8K4Tf32:
  case MatrixKind::M16N8K8Tf32: return std::bit_cast<float>(word & 0xffffe000); // the lower 13 bits are not read
  case MatrixKind::M16N8K8F16:
  case MatrixKind::M16N8K16F16: return halfToFloat(word >> (16 * index) & 0xffff);
  case MatrixKind::M16N8K8BF16:
  case MatrixKind::M16N8K16BF16: return std::bit_cast<float>(word >> (16 * index) << 16);
  case MatrixKind::M16N8K16S8:
  case MatrixKind::M16N8K32S8: {
    uint32_t byte = word >> (8 * index) & 0xff;
    return isUnsigned ? double(byte) : double(int8_t(byte));
  }
  }
  return 0;
}

// D = A B + C of 16 x k, k x 8 and 16 x 8. Products are exact in double and so are nearly all sums; the result is
// rounded once, where hardware truncates partial sums: it lies within the rounding of k additions of what a GPU gives.
static void performProduct(Block &block, Warp &warp, uint32_t lanes, uint32_t line) {
  requireWholeWarp(block, warp, lanes, line);
  uint32_t code = Block::exchangeOf<Product>(warp, 0).kind;
  MatrixKind kind = MatrixKind(code & 0xff);
  const Shape &shape = shapes[code & 0xff];
  bool isInteger = kind == MatrixKind::M16N8K16S8 || kind == MatrixKind::M16N8K32S8,
       isHalf = code & matrixHalfAccumulator;
  double a[16][32], b[32][8], d[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Product &own = Block::exchangeOf<Product>(warp, lane);
    unsigned group = lane / 4, column = lane % 4 * shape.elements;
    for (unsigned word = 0; word < shape.a; ++word)
      for (unsigned i = 0; i < shape.elements; ++i)
        a[group + word % 2 * 8][column + word / 2 * 4 * shape.elements + i] =
            element(kind, code & matrixUnsignedA, own.a[word], i);
    for (unsigned word = 0; word < shape.b; ++word)
      for (unsigned i = 0; i < shape.elements; ++i)
        b[column + word * 4 * shape.elements + i][group] = element(kind, code & matrixUnsignedB, own.b[word], i);
    for (unsigned i = 0; i < 4; ++i) {
      double &c = d[group + i / 2 * 8][lane % 4 * 2 + i % 2];
      if (isHalf)
        c = halfToFloat(own.c[i / 2] >> (i % 2 * 16) & 0xffff);
      else
        c = isInteger ? double(int32_t(own.c[i])) : double(std::bit_cast<float>(own.c[i]));
    }
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned column = 0; column < 8; ++column) d[row][column] += a[row][k] * b[k][column];
  for (unsigned lane = 0; lane < 32; ++lane) {
    Product &own = Block::exchangeOf<Product>(warp, lane);
    for (unsigned i = 0; i < 4; ++i) {
      double value = d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
      if (isHalf) {
        uint32_t half = hooks_impl::narrow(value, uint32_t(NarrowFormat::F16), uint32_t(Rounding::Nearest));
        own.d[i / 2] = i % 2 ? own.d[i / 2] | half << 16 : half;
      } else if (isInteger) {
        if (code & matrixSaturate) value = std::min(std::max(value, -0x1p31), 0x1p31 - 1);
        own.d[i] = uint32_t(int64_t(value)); // which wraps without .satfinite
      } else {
        own.d[i] = std::bit_cast<uint32_t>(float(value));
      }
    }
  }
}
void hooks_impl::multiply(SprigGpuThread *self, uint32_t kind, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                          uint32_t *d, uint32_t line) {
  Thread &thread = Block::thread(self);
  Product product{kind, a, b, c, d};
  thread.owner->meet(thread, ~0u, line, product, performProduct);
}
