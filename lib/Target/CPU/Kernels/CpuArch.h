// What kernel emitters know of an instruction set. For emitters, which choose register tiles by it, and for the target,
// which compiles with its LLVM names. Nothing here may change a bit of a result from x86-64-v3 up.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include "llvm/ADT/StringRef.h"

namespace sprig::cpu {

struct CpuArch {
  std::string cpu = "x86-64-v3"; // LLVM's name of the processor
  std::string features;          // LLVM's feature string; may be empty
  int vectorRegisters = 16;
  int vectorBytes = 32;
  bool fma = true;          // else a product and a sum, each rounded
  bool f16c = true;         // conversions between f32 and f16 in hardware
  bool dotBytes = false;    // sums of products of four bytes (VNNI)
  bool dotHalves = false;   // and of two bf16
  bool matrixBytes = false; // products of whole matrices of bytes (AMX)

  // The register tile of contractions that tuning found for the kernel at hand; 0: the emitters' own choice.
  int64_t tileRows = 0, tileVectors = 0;

  /// f32 values in a vector register.
  int lanes() const { return vectorBytes / 4; }

  /// Behind the name of a level: with sums of products of bytes, which it does not imply; of those and of bf16; of
  /// bytes and products of matrices of them.
  static constexpr llvm::StringLiteral kBytesSuffix = "-vnni", kHalvesSuffix = "-bf16", kMatrixSuffix = "-amx";
  /// LLVM's names of the features that have such sums, at this width of vectors; empty: none has.
  llvm::StringRef bytesFeature() const;
  llvm::StringRef halvesFeature() const;
  static constexpr llvm::StringLiteral kTileFeature = "amx-tile", kMatrixFeature = "amx-int8";
  /// Code may use what LLVM calls so.
  void addFeature(llvm::StringRef feature);

  /// The names of all levels, in a row for messages.
  static constexpr llvm::StringLiteral kLevels =
      "x86-64-v2, x86-64-v3, x86-64-v3-vnni, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, x86-64-v4-amx";
  /// One of them; nothing for another name.
  static std::optional<CpuArch> forLevel(llvm::StringRef level);
};

} // namespace sprig::cpu
