#include "lib/Target/CUDA/Kernels/Emitters.h"

llvm::ArrayRef<const sprig::cuda::GpuEmitter *> sprig::cuda::gpuEmitters() {
  static const llvm::SmallVector<const GpuEmitter *> emitters = [] {
    llvm::SmallVector<const GpuEmitter *> list;
    auto add = [&](std::unique_ptr<GpuEmitter> emitter) { list.push_back(emitter.release()); };
    add(createGpuMatmulTf32Emitter()); // of what may be rounded
    add(createGpuConvTf32Emitter());
    add(createGpuConvFilterGradTf32Emitter());
    add(createGpuMatmulEmitter());
    add(createGpuConvEmitter());
    add(createGpuConvFilterGradEmitter());
    add(createGpuSumPartsEmitter());
    add(createGpuTransposeEmitter()); // of another innermost dimension
    add(createGpuPoolEmitter());      // without padding
    add(createGpuAttentionEmitter());
    add(createGpuLoopEmitter());
    add(createGpuRowEmitter());
    add(createGpuConcatEmitter());
    add(createGpuArgRowEmitter()); // along the innermost dimension
    add(createGpuArgReduceEmitter());
    add(createGpuArgMaxPoolEmitter());
    add(createGpuCumulativeEmitter());
    add(createGpuTopKEmitter());
    add(createGpuScatterElementsEmitter());
    add(createGpuScatterNdEmitter());
    add(createGpuScanEmitter());
    add(createGpuCondEmitter());
    add(createGpuWhileEmitter());
    return list;
  }();
  return emitters;
}
