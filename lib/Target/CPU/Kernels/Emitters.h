// The constructors of all emitters; each is defined beside its class. For the registry alone: Registry.cpp lists them
// in order of preference.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include <memory>

namespace sprig::cpu {
using CreateEmitter = std::unique_ptr<KernelEmitter>();
CreateEmitter createConvDepthwiseEmitter, createConvDepthwiseDotEmitter, createConvFilterGradEmitter,
    createConvFilterGradPartsEmitter, createConvPackedEmitter, createConvWinogradEmitter, createAttentionEmitter,
    createMatmulEmitter, createMatmulNarrowEmitter, createMatmulNarrowDotEmitter, createMatmulPackedEmitter,
    createPackEmitter, createTransposeEmitter, createConcatEmitter, createPadEmitter, createCumulativeEmitter,
    createPoolGradEmitter, createTopKEmitter, createScatterElementsEmitter, createScatterNdEmitter,
    createArgReduceEmitter, createArgMaxPoolEmitter, createMaxPoolBytesEmitter, createScanEmitter, createCondEmitter,
    createWhileEmitter, createLoopEmitter;
} // namespace sprig::cpu
