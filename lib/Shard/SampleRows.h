// Which rows of a value are those of samples, where each rank has a share of them and none sees another's program.
// For passes that put ranks' rows together: what this proves of one rank's program holds in those of all.
#pragma once
#include "mlir/IR/Value.h"

namespace sprig::shard {

/// Whether a dimension is made up, major to minor, of the function's samples (the first axis of its arguments, of which
/// this rank has so many) and something that is the same on all ranks: by the dimension rules of what is between. With
/// one sample nothing is proved, as rules do not name dimensions of one.
bool leadsWithSamples(mlir::Value value, int64_t dim, int64_t samples);

} // namespace sprig::shard
