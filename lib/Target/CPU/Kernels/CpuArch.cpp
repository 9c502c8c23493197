#include "lib/Target/CPU/Kernels/CpuArch.h"

llvm::StringRef sprig::CpuArch::dotFeature() const { return vectorBytes == 64 ? "avx512vnni" : "avxvnni"; }

void sprig::CpuArch::addFeature(llvm::StringRef feature) {
  features += (features.empty() ? "+" : ",+") + feature.str();
  dotBytes |= feature == dotFeature();
}

std::optional<sprig::CpuArch> sprig::CpuArch::forLevel(llvm::StringRef level) {
  CpuArch target;
  bool hasDots = level.consume_back(kDotSuffix);
  target.cpu = level.str();
  if (level == "x86-64-v2" && !hasDots) {
    target.vectorBytes = 16;
    target.fma = target.f16c = false;
    return target;
  }
  if (level == "x86-64-v4") {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    // 512-bit registers are the point of this level; LLVM's default for it is 256.
    target.features = "-prefer-256-bit";
  } else if (level != "x86-64-v3") {
    return std::nullopt;
  }
  if (hasDots) target.addFeature(target.dotFeature());
  return target;
}
