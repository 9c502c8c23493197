#include "lib/Target/CPU/Kernels/CpuArch.h"

std::optional<sprig::CpuArch> sprig::CpuArch::forLevel(llvm::StringRef level) {
  CpuArch target;
  target.cpu = level.str();
  if (level == "x86-64-v2") {
    target.vectorBytes = 16;
    target.fma = target.f16c = false;
    return target;
  }
  if (level == "x86-64-v3") return target;
  if (level == "x86-64-v4") {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    // 512-bit registers are the point of this level; LLVM's default for it is 256.
    target.features = "-prefer-256-bit";
    return target;
  }
  return std::nullopt;
}
