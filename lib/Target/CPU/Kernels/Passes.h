// Passes that make kernels, for sprig-opt. Declared in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sprig::cpu {
/// Makes the passes known to drivers by their command-line names.
void registerKernelPasses();
} // namespace sprig::cpu
