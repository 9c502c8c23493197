// NVIDIA's GPUs as a target: sm_80, 86, 89, 90, 100 and 120. For the registry.
#pragma once
#include "lib/Target/Target.h"
#include <memory>

namespace sprig::cuda {
std::unique_ptr<Target> createCudaTarget();
} // namespace sprig::cuda
