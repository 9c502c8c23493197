// The passes from nn to nn. For the pipeline, which builds phases of them, and sprig-opt, which offers each alone.
// Every pass is declared in Passes.td; options too.
#pragma once
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sprig {
#define GEN_PASS_DECL
#include "lib/Transforms/Passes.h.inc"

/// Makes every pass of Passes.td known to drivers by its command-line name.
void registerTransforms();
} // namespace sprig
