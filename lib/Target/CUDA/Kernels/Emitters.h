// The constructors of all emitters; each is defined beside its class. For the registry alone: Registry.cpp lists them
// in order of preference.
#pragma once
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include <memory>

namespace sprig::cuda {
using CreateEmitter = std::unique_ptr<GpuEmitter>();
CreateEmitter createGpuArgMaxPoolEmitter, createGpuArgReduceEmitter, createGpuArgRowEmitter, createGpuAttentionEmitter,
    createGpuConcatEmitter, createGpuCondEmitter, createGpuConvEmitter, createGpuConvFilterGradEmitter,
    createGpuConvFilterGradTf32Emitter, createGpuConvTf32Emitter, createGpuCumulativeEmitter, createGpuLoopEmitter,
    createGpuMatmulEmitter, createGpuMatmulTf32Emitter, createGpuPoolEmitter, createGpuRowEmitter, createGpuScanEmitter,
    createGpuScatterElementsEmitter, createGpuScatterNdEmitter, createGpuSumPartsEmitter, createGpuTopKEmitter,
    createGpuTransposeEmitter, createGpuWhileEmitter;
} // namespace sprig::cuda
