// The emitter of kernel.conv_winograd. For the registry.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include <memory>

namespace sprig::cpu {
std::unique_ptr<KernelEmitter> createConvWinogradEmitter();
} // namespace sprig::cpu
