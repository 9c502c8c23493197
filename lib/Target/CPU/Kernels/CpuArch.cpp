#include "lib/Target/CPU/Kernels/CpuArch.h"

llvm::StringRef sprig::cpu::CpuArch::bytesFeature() const { return vectorBytes == 64 ? "avx512vnni" : "avxvnni"; }
llvm::StringRef sprig::cpu::CpuArch::halvesFeature() const { return vectorBytes == 64 ? "avx512bf16" : ""; }

void sprig::cpu::CpuArch::addFeature(llvm::StringRef feature) {
  features += (features.empty() ? "+" : ",+") + feature.str();
  dotBytes |= feature == bytesFeature();
  dotHalves |= feature == halvesFeature();
  matrixBytes |= feature == kMatrixFeature;
}

std::optional<sprig::cpu::CpuArch> sprig::cpu::CpuArch::forLevel(llvm::StringRef level) {
  CpuArch target;
  bool hasMatrices = level.consume_back(kMatrixSuffix), hasHalves = !hasMatrices && level.consume_back(kHalvesSuffix);
  bool hasBytes = hasMatrices || hasHalves || level.consume_back(kBytesSuffix);
  target.cpu = level.str();
  if (level == "x86-64-v2" && !hasBytes) {
    target.vectorBytes = 16;
    target.fma = target.f16c = false;
    return target;
  }
  if (level == "x86-64-v4") {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    // 512-bit registers are the point of this level; LLVM's default for it is 256.
    target.features = "-prefer-256-bit";
  } else if (level != "x86-64-v3" || hasHalves || hasMatrices) {
    return std::nullopt;
  }
  // Processors with what comes later have this. Those with matrices have dot products of bf16, too, which are slow
  // there (runtime/machine/DotsOfHalves.h).
  if (hasBytes) target.addFeature(target.bytesFeature());
  if (hasHalves) target.addFeature(target.halvesFeature());
  if (hasMatrices)
    for (llvm::StringRef feature : {kTileFeature, kMatrixFeature}) target.addFeature(feature);
  return target;
}
