// The constructors of all emitters; each is defined beside its class. For the registry alone: Registry.cpp lists them in
// order of preference.
#pragma once
#include "lib/Conversion/NNToCPU/KernelEmitter.h"
#include <memory>

namespace sprig {
std::unique_ptr<KernelEmitter> createConvDepthwiseEmitter();
std::unique_ptr<KernelEmitter> createConvPackedEmitter();
std::unique_ptr<KernelEmitter> createMatmulPackedEmitter();
} // namespace sprig
