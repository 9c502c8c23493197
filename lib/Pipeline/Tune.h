// Search for register tiles: --tune. Behind the phase `fuse`, each different contraction is compiled alone in several
// shapes of its register tile and timed on this machine; the best becomes the attribute `nn.tile` of its dispatches.
// A tile's shape changes no bit: every sum keeps its order.
#pragma once
#include "lib/Pipeline/Pipeline.h"

namespace sprig {

struct TuneCounts {
  size_t kernels = 0;  // different contractions
  size_t measured = 0; // of them, those that were timed
  size_t cached = 0;   // those whose result was kept from an earlier time on such a machine
};

/// Spends about `options.tuneSeconds`; results are kept in the cache, if there is one, by machine and kernel.
TuneCounts tuneTiles(mlir::ModuleOp module, const CompileOptions &options, const PackageTimer &timer,
                     const RemarkSink &report);

} // namespace sprig
