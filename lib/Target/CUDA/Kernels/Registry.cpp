#include "lib/Target/CUDA/Kernels/Emitters.h"
#include <array>

llvm::ArrayRef<const sprig::cuda::GpuEmitter *> sprig::cuda::gpuEmitters() {
  static const auto emitters =
      [](auto &...create) {
        return std::array<const GpuEmitter *, sizeof...(create)>{create().release()...};
      }(createGpuMatmulTf32Emitter, // of what may be rounded
        createGpuConvTf32Emitter, createGpuConvFilterGradTf32Emitter, createGpuMatmulEmitter, createGpuConvEmitter,
        createGpuConvFilterGradEmitter, createGpuSumPartsEmitter,
        createGpuTransposeEmitter, // of another innermost dimension
        createGpuPoolEmitter,      // without padding
        createGpuAttentionEmitter, createGpuLoopEmitter, createGpuRowEmitter, createGpuConcatEmitter,
        createGpuArgRowEmitter, // along the innermost dimension
        createGpuArgReduceEmitter, createGpuArgMaxPoolEmitter, createGpuCumulativeEmitter, createGpuTopKEmitter,
        createGpuScatterElementsEmitter, createGpuScatterNdEmitter, createGpuScanEmitter, createGpuCondEmitter,
        createGpuWhileEmitter);
  return emitters;
}
