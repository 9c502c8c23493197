// The pass that places operations on devices (Passes.td). For the pipeline and sprig-opt.
#pragma once
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sprig/options.h"

namespace sprig {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Place/Passes.h.inc"

/// `explain` is called for each function; empty: nobody asks.
std::unique_ptr<mlir::Pass> createPlace(PlaceOptions options, std::function<void(const Placement &)> explain);

} // namespace sprig
