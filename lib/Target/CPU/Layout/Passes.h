// The passes that choose how networks lie in the CPU's memory. For its target, which orders them, and sprig-opt, which
// offers each alone. Declared in Passes.td; options too.
#pragma once
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sprig::cpu {
#define GEN_PASS_DECL
#include "lib/Target/CPU/Layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Target/CPU/Layout/Passes.h.inc"
} // namespace sprig::cpu
