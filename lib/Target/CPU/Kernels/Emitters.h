// The constructors of all emitters; each is defined beside its class. For the registry alone: Registry.cpp lists them
// in order of preference.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include <memory>

namespace sprig::cpu {
std::unique_ptr<KernelEmitter> createConvDepthwiseEmitter();
std::unique_ptr<KernelEmitter> createConvDepthwiseDotEmitter();
std::unique_ptr<KernelEmitter> createConvFilterGradEmitter();
std::unique_ptr<KernelEmitter> createConvFilterGradPartsEmitter();
std::unique_ptr<KernelEmitter> createConvPackedEmitter();
std::unique_ptr<KernelEmitter> createAttentionEmitter();
std::unique_ptr<KernelEmitter> createMatmulEmitter();
std::unique_ptr<KernelEmitter> createMatmulNarrowEmitter();
std::unique_ptr<KernelEmitter> createMatmulNarrowDotEmitter();
std::unique_ptr<KernelEmitter> createMatmulPackedEmitter();
std::unique_ptr<KernelEmitter> createPackEmitter();
std::unique_ptr<KernelEmitter> createTransposeEmitter();
std::unique_ptr<KernelEmitter> createConcatEmitter();
std::unique_ptr<KernelEmitter> createPadEmitter();
std::unique_ptr<KernelEmitter> createCumulativeEmitter();
std::unique_ptr<KernelEmitter> createPoolGradEmitter();
std::unique_ptr<KernelEmitter> createTopKEmitter();
std::unique_ptr<KernelEmitter> createScatterElementsEmitter();
std::unique_ptr<KernelEmitter> createScatterNdEmitter();
std::unique_ptr<KernelEmitter> createArgReduceEmitter();
std::unique_ptr<KernelEmitter> createArgMaxPoolEmitter();
std::unique_ptr<KernelEmitter> createMaxPoolBytesEmitter();
std::unique_ptr<KernelEmitter> createScanEmitter();
std::unique_ptr<KernelEmitter> createLoopEmitter();
} // namespace sprig::cpu
