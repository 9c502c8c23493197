// The constructors of all emitters; each is defined beside its class. For the registry alone: Registry.cpp lists them
// in order of preference.
#pragma once
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include <memory>

namespace sprig::cuda {
std::unique_ptr<GpuEmitter> createGpuArgMaxPoolEmitter();
std::unique_ptr<GpuEmitter> createGpuArgReduceEmitter();
std::unique_ptr<GpuEmitter> createGpuArgRowEmitter();
std::unique_ptr<GpuEmitter> createGpuAttentionEmitter();
std::unique_ptr<GpuEmitter> createGpuConcatEmitter();
std::unique_ptr<GpuEmitter> createGpuCondEmitter();
std::unique_ptr<GpuEmitter> createGpuConvEmitter();
std::unique_ptr<GpuEmitter> createGpuConvFilterGradEmitter();
std::unique_ptr<GpuEmitter> createGpuConvFilterGradTf32Emitter();
std::unique_ptr<GpuEmitter> createGpuConvTf32Emitter();
std::unique_ptr<GpuEmitter> createGpuCumulativeEmitter();
std::unique_ptr<GpuEmitter> createGpuLoopEmitter();
std::unique_ptr<GpuEmitter> createGpuMatmulEmitter();
std::unique_ptr<GpuEmitter> createGpuMatmulTf32Emitter();
std::unique_ptr<GpuEmitter> createGpuPoolEmitter();
std::unique_ptr<GpuEmitter> createGpuRowEmitter();
std::unique_ptr<GpuEmitter> createGpuScanEmitter();
std::unique_ptr<GpuEmitter> createGpuScatterElementsEmitter();
std::unique_ptr<GpuEmitter> createGpuScatterNdEmitter();
std::unique_ptr<GpuEmitter> createGpuSumPartsEmitter();
std::unique_ptr<GpuEmitter> createGpuTopKEmitter();
std::unique_ptr<GpuEmitter> createGpuTransposeEmitter();
std::unique_ptr<GpuEmitter> createGpuWhileEmitter();
} // namespace sprig::cuda
