// Rates of products of narrow numbers, several of which an instruction adds up at once: `vpdpbusd` of bytes, `tdpbusd`
// of matrices of them, `vdpbf16ps` of bf16. For limits and predictions, beside the rates of MachineModel.h; no decision
// about code rests on them.
#pragma once
#include "lib/Machine/MachineModel.h"

namespace sprig::machine {

/// What a product multiplies, as processors have instructions for it.
enum class Factors {
  f32,   ///< by fused multiply-adds, as all that no other instruction is there for
  bytes, ///< four products of an unsigned and a signed byte at once, into 32 bits, or a matrix of such sums
  bf16,  ///< two products at once, into f32
};

/// Of an element type as packages name it ("ui8", "bf16"); f32 of all others, and of none.
Factors factorsOf(std::string_view elementType);

/// How many such products this processor's instructions make in the time of one multiply-add of f32; 1: it has none for
/// them.
int productsOfOne(Factors factors);

/// Measures multiplications and additions a second, all threads together, as the best of short rounds (Rates.h). Where
/// the instruction is missing, of what kernels take in its place: bytes as pairs of 16 bits, bf16 as f32.
double dotRate(Factors factors, int threads);

/// A machine's rates for all factors.
class ProductRates {
public:
  /// As calibration has found them; what it has not measured, by what the instructions do for one multiply-add of f32.
  explicit ProductRates(const Calibration &found);
  /// As MachineModel.h's modelFor.
  explicit ProductRates(std::span<const std::string> cpus);

  const MachineModel &model() const { return rates; }
  /// Operations a second. As many threads have as many times what one has as in f32.
  double rate(Factors factors, int threads = 1) const;

private:
  void setDots(int ofBytes, int ofBf16);
  MachineModel rates;
  double bytes = 0, bf16 = 0; ///< of one thread
};

} // namespace sprig::machine
