// Whether kernels touch what a package says that their tiles touch (TileRange in program.fbs), by running single tiles.
#ifndef SPRIG_RUNTIME_TEST_TILERANGES_H
#define SPRIG_RUNTIME_TEST_TILERANGES_H

#include "runtime/exec/Package.h"

#include <string>
#include <vector>

namespace sprig::rt::test {

struct TileRangesFound {
  size_t kernels = 0; // that entries run
  size_t stated = 0;  // of them, those that state ranges
  size_t tiles = 0;   // that were run
  std::vector<std::string> wrong;
};

// Runs some tiles of each kernel with ranges, a few at both ends and others at random: on operands of random values,
// and on the same with all bytes that the tile does not touch replaced, which must change nothing; a byte of a result
// that it does not touch must stay as it was. For packages of code that the host can run.
TileRangesFound checkTileRanges(const core::Package &package, size_t tilesOfKernel = 12);

} // namespace sprig::rt::test

#endif
