// The pass that places operations on devices (Passes.td). For the pipeline and sprig-opt.
// The file of a pass defines GEN_PASS_DEF_<PASS> in front of this header, for the base class that it gets: so it is
// read more than once.
#ifndef SPRIG_PLACE_PASSES_H
#define SPRIG_PLACE_PASSES_H
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sprig/options.h"

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION

namespace sprig {
struct PlaceOptions;

/// `explain` is called for each function; empty: nobody asks.
std::unique_ptr<mlir::Pass> createPlace(PlaceOptions options, std::function<void(const Placement &)> explain);
} // namespace sprig
#endif

namespace sprig {
#include "lib/Place/Passes.h.inc"
} // namespace sprig
