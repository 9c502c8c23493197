// The processor as a target: x86-64 from level v2 up. For the registry.
#pragma once
#include "lib/Target/Target.h"
#include <memory>

namespace sprig::cpu {
std::unique_ptr<Target> createCpuTarget();
} // namespace sprig::cpu
