// Products of matrices with an epilogue, for tests of tiles.
#pragma once
#include "test/unit/Target/CUDA/TileKernels.h"
#include <functional>

namespace sprig {

/// Several share the right side.
struct TestProduct {
  const char *name;
  int64_t batch, rows, columns, depth;
  bool transposedLeft, transposedRight;
  int64_t tile = 0; // rows and columns of one, where there are more than 32
  bool tf32 = false;

  int64_t leftAt(int64_t b, int64_t r, int64_t k) const {
    return b * rows * depth + (transposedLeft ? k * rows + r : r * depth + k);
  }
  int64_t rightAt(int64_t k, int64_t c) const { return transposedRight ? c * depth + k : k * columns + c; }
};

/// relu(x y + bias), and what follows it of a residual of the result's shape.
TileCase caseOf(const TestProduct &p);
/// x, y, bias and residual in [-1, 1], and zeros for the result.
std::vector<std::vector<float>> buffersOf(const TestProduct &p);
TileKernels kernelsOf(const std::vector<TestProduct> &products);
/// Runs all tiles of a product, of more than 32 the first and the last two, and then `check` for each of their
/// elements: of a batch, row and column, and where it is in the result. Expects that no other was stored.
void runTiles(TileKernels &kernels, const TestProduct &p, std::vector<std::vector<float>> &buffers,
              const std::function<void(int64_t b, int64_t r, int64_t c, int64_t at)> &check);

} // namespace sprig
