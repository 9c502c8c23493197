#include "lib/Target/CUDA/CudaArch.h"
#include "llvm/ADT/StringExtras.h"

using namespace sprig;
using namespace sprig::cuda;

static constexpr int64_t operator""_KiB(unsigned long long count) { return int64_t(count) << 10; }

// Of NVIDIA's tables of compute capabilities: shared memory of a block. What a multiprocessor has is in
// lib/Machine/CudaModel.
llvm::ArrayRef<CudaArch> sprig::cuda::cudaArchs() {
  static const CudaArch table[] = {
      {8, 0, 70, 163_KiB}, {8, 6, 71, 99_KiB},   {8, 9, 78, 99_KiB},
      {9, 0, 78, 227_KiB}, {10, 0, 86, 227_KiB}, {12, 0, 87, 99_KiB},
  };
  return table;
}

llvm::Expected<CudaArch> sprig::cuda::cudaArchByName(llvm::StringRef name) {
  llvm::SmallVector<std::string> names;
  for (const CudaArch &arch : cudaArchs()) {
    if (arch.name() == name) return arch;
    names.push_back(arch.name());
  }
  return llvm::createStringError("unknown architecture '" + name + "'; known are " + llvm::join(names, ", "));
}
