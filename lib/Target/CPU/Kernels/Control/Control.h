// The emitters of nn.cond and nn.while. For the registry.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include <memory>

namespace sprig::cpu {
std::unique_ptr<KernelEmitter> createCondEmitter();
std::unique_ptr<KernelEmitter> createWhileEmitter();
} // namespace sprig::cpu
