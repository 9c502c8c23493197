// The emitter of nn.conv_winograd. For the registry.
#pragma once
#include "lib/Conversion/NNToCPU/KernelEmitter.h"
#include <memory>

namespace sprig {
std::unique_ptr<KernelEmitter> createConvWinogradEmitter();
} // namespace sprig
