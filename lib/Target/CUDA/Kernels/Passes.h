// Passes that make kernels of NVIDIA GPUs, for sprig-opt. Declared in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sprig::cuda {
/// Makes the passes known to drivers by their command-line names.
void registerCudaKernelPasses();
} // namespace sprig::cuda
