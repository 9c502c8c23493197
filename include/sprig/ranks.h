// What ranks that share a batch may be told of it.
// For sprig/dist.h and sprig/trainer.h.
#pragma once

namespace sprig {

/// Whose samples batch norms in training take the statistics of. Of replicas' own, as PyTorch's DistributedDataParallel
/// has it, running statistics move by their mean over the ranks, weighed by samples.
enum class NormStatistics { all, replica };

/// How learning rates follow a batch that grows with the ranks: as their number, or its root.
enum class RateScaling { none, linear, sqrt };

} // namespace sprig
