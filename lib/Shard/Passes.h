// Passes over programs of many ranks (Passes.td). For sprig-opt.
// The file of a pass defines GEN_PASS_DEF_<PASS> in front of this header, for the base class that it gets: so it is
// read more than once.
#ifndef SPRIG_SHARD_PASSES_H
#define SPRIG_SHARD_PASSES_H
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Shard/FactorRule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION

namespace sprig {
struct GatherFactorsOptions;

std::unique_ptr<mlir::Pass> createGatherFactors(GatherFactorsOptions options, FactorReport report);
} // namespace sprig
#endif

namespace sprig {
#include "lib/Shard/Passes.h.inc"
} // namespace sprig
