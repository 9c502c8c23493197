// Search for tiles: --tune. After the phase `fuse`, each different kernel for which the target has a choice is
// compiled alone with several of its tiles and timed on this machine; the best becomes the attribute `tile` of
// its dispatches. A tile's shape changes no bit: every sum keeps its order.
#pragma once
#include "lib/Pipeline/Pipeline.h"

namespace sprig {

struct TuneCounts {
  size_t kernels = 0;  // different ones that have a choice
  size_t measured = 0; // of them, those that were timed
  size_t cached = 0;   // those whose result was kept from an earlier time on such a machine
};

/// Spends about `options.tuneSeconds`; results are kept in the cache, if there is one, by machine and kernel.
TuneCounts tuneTiles(mlir::ModuleOp module, const CompileOptions &options, const PackageTimer &timer,
                     const RemarkSink &report);

} // namespace sprig
