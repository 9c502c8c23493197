// How many blocks of a kernel a multiprocessor runs at once. For reports, and emitters that weigh tiles.
#pragma once
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "lib/Target/Image.h"

namespace sprig::cuda {

/// By registers, shared memory, threads and blocks: the least of what each allows.
int64_t blocksOnMultiprocessor(const CudaArch &arch, const KernelUsage &usage, const LaunchShape &launch);

} // namespace sprig::cuda
