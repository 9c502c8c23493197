#include "lib/Target/CPU/Kernels/Emitters.h"
#include <array>

llvm::ArrayRef<const sprig::cpu::KernelEmitter *> sprig::cpu::kernelEmitters() {
  static const auto emitters =
      [](auto &...create) {
        return std::array<const KernelEmitter *, sizeof...(create)>{create().release()...};
      }(createMatmulPackedEmitter, createMatmulNarrowEmitter, createMatmulNarrowDotEmitter, createConvPackedEmitter,
        createConvWinogradEmitter, createConvDepthwiseEmitter, createConvDepthwiseDotEmitter,
        createConvFilterGradEmitter, createConvFilterGradPartsEmitter, createAttentionEmitter, createMatmulEmitter,
        createPackEmitter, createTransposeEmitter, createConcatEmitter, createPadEmitter, createPoolGradEmitter,
        createCumulativeEmitter, createTopKEmitter, createScatterElementsEmitter, createScatterNdEmitter,
        createArgReduceEmitter, createArgMaxPoolEmitter, createMaxPoolBytesEmitter, createScanEmitter,
        createCondEmitter, createWhileEmitter, createLoopEmitter);
  return emitters;
}
