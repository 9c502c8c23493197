#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Control/Control.h"
#include "lib/Target/CPU/Kernels/Convolution/ConvWinograd.h"
#include "llvm/ADT/SmallVector.h"

llvm::ArrayRef<const sprig::cpu::KernelEmitter *> sprig::cpu::kernelEmitters() {
  static const llvm::SmallVector<const KernelEmitter *> emitters = [] {
    llvm::SmallVector<const KernelEmitter *> list;
    auto add = [&](std::unique_ptr<KernelEmitter> emitter) { list.push_back(emitter.release()); };
    add(createMatmulPackedEmitter());
    add(createMatmulNarrowEmitter());
    add(createMatmulNarrowDotEmitter());
    add(createConvPackedEmitter());
    add(createConvWinogradEmitter());
    add(createConvDepthwiseEmitter());
    add(createConvDepthwiseDotEmitter());
    add(createConvFilterGradEmitter());
    add(createConvFilterGradPartsEmitter());
    add(createAttentionEmitter());
    add(createMatmulEmitter());
    add(createPackEmitter());
    add(createTransposeEmitter());
    add(createConcatEmitter());
    add(createPadEmitter());
    add(createPoolGradEmitter());
    add(createCumulativeEmitter());
    add(createTopKEmitter());
    add(createScatterElementsEmitter());
    add(createScatterNdEmitter());
    add(createArgReduceEmitter());
    add(createArgMaxPoolEmitter());
    add(createMaxPoolBytesEmitter());
    add(createScanEmitter());
    add(createCondEmitter());
    add(createWhileEmitter());
    add(createLoopEmitter());
    return list;
  }();
  return emitters;
}
