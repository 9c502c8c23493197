#include "lib/Machine/DotRates.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/MachineFile.h"
#include "lib/Machine/Rates.h"
#include <algorithm>
#include <cstdint>
#include <immintrin.h>

namespace sprig::machine {
namespace {

// Ten independent chains hide the latency of the units, as in Rates.cpp.
constexpr int kChains = 10;

// One loop for each instruction; a macro because intrinsics of a type are no template. OPERATIONS: of one instruction.
#define SPRIG_DOT_LOOP(NAME, TARGET, SUM, FACTOR, OPERATIONS, STEP)                                                    \
  TARGET int64_t NAME(int64_t iterations) {                                                                            \
    SUM acc[kChains] = {};                                                                                             \
    FACTOR a = {}, b = {};                                                                                             \
    asm volatile("" : "+x"(a), "+x"(b));                                                                               \
    for (int64_t i = 0; i < iterations; ++i) _Pragma("clang loop unroll(full)") for (int c = 0; c < kChains; ++c) {    \
        acc[c] = STEP(acc[c], a, b);                                                                                   \
        asm volatile("" : "+x"(acc[c]));                                                                               \
      }                                                                                                                \
    return iterations * kChains * (OPERATIONS);                                                                        \
  }

#define SPRIG_PAIRS_512(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#define SPRIG_PAIRS_256(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define SPRIG_PAIRS_128(sum, a, b) _mm_add_epi32(sum, _mm_madd_epi16(a, b))
SPRIG_DOT_LOOP(bytes512, __attribute__((target("avx512f,avx512vnni"))), __m512i, __m512i, 16 * 4 * 2,
               _mm512_dpbusd_epi32)
SPRIG_DOT_LOOP(bytes256, __attribute__((target("avx2,avxvnni"))), __m256i, __m256i, 8 * 4 * 2, _mm256_dpbusd_avx_epi32)
SPRIG_DOT_LOOP(pairs512, __attribute__((target("avx512f,avx512bw"))), __m512i, __m512i, 16 * 2 * 2, SPRIG_PAIRS_512)
SPRIG_DOT_LOOP(pairs256, __attribute__((target("avx2"))), __m256i, __m256i, 8 * 2 * 2, SPRIG_PAIRS_256)
SPRIG_DOT_LOOP(pairs128, , __m128i, __m128i, 4 * 2 * 2, SPRIG_PAIRS_128)
SPRIG_DOT_LOOP(halves512, __attribute__((target("avx512f,avx512bf16"))), __m512, __m512bh, 16 * 2 * 2, _mm512_dpbf16_ps)

using Loop = int64_t (*)(int64_t);

// Null: none of its own.
Loop loopOf(Factors factors) {
  __builtin_cpu_init();
  if (factors == Factors::bf16) return hasDots(factors) ? halves512 : nullptr;
  if (factors != Factors::bytes) return nullptr;
  if (__builtin_cpu_supports("avx512vnni")) return bytes512;
  if (__builtin_cpu_supports("avxvnni")) return bytes256;
  if (__builtin_cpu_supports("avx512bw")) return pairs512;
  return __builtin_cpu_supports("avx2") ? pairs256 : pairs128;
}

} // namespace

bool hasDots(Factors factors) {
  __builtin_cpu_init();
  if (factors == Factors::bytes) return __builtin_cpu_supports("avx512vnni") || __builtin_cpu_supports("avxvnni");
  return factors == Factors::bf16 && __builtin_cpu_supports("avx512bf16");
}

double dotRate(Factors factors, int threads) {
  Loop loop = loopOf(factors);
  if (!loop) return fmaRate(threads);
  constexpr int64_t kIterations = 1 << 17;
  int64_t operations = loop(kIterations); // wakes the wide units up
  return double(operations) * threads / quickestRound(threads, 48 * threads, [&](int) { loop(kIterations); });
}

Factors factorsOf(std::string_view elementType) {
  if (elementType == "ui8" || elementType == "i8") return Factors::bytes;
  return elementType == "bf16" ? Factors::bf16 : Factors::f32;
}

// What the instructions do for one fused multiply-add, where there are some; kernels do without them about as well as
// in f32.
void ProductRates::setDots(bool ofBytes, bool ofBf16) {
  bytes = rates.fmaFlops * (ofBytes ? 4 : 1);
  bf16 = rates.fmaFlops * (ofBf16 ? 2 : 1);
}

ProductRates::ProductRates(const Calibration &found) : rates(modelOf(found)) {
  setDots(hasDots(Factors::bytes), hasDots(Factors::bf16));
  if (found.byteDots > 0) bytes = found.byteDots;
  if (found.bf16Dots > 0) bf16 = found.bf16Dots;
}

ProductRates::ProductRates(std::span<const std::string> cpus) : rates(modelFor(cpus)) {
  bool isNative = cpus.size() == 1 && cpus[0] == "native";
  if (auto kept = isNative ? keptCalibration() : std::nullopt) {
    *this = ProductRates(*kept);
    return;
  }
  bool ofBytes = true, ofBf16 = true;
  for (const std::string &cpu : cpus) {
    // x86-64-v4-bf16 has the instructions for bytes, too.
    ofBf16 &= cpu == "native" ? hasDots(Factors::bf16) : cpu.ends_with("-bf16");
    ofBytes &= cpu == "native" ? hasDots(Factors::bytes) : cpu.ends_with("-vnni") || cpu.ends_with("-bf16");
  }
  setDots(ofBytes, ofBf16);
}

double ProductRates::rate(Factors factors, int threads) const {
  double all = rates.flopRate(threads);
  if (factors == Factors::f32) return all;
  return all * ((factors == Factors::bytes ? bytes : bf16) / rates.fmaFlops);
}

} // namespace sprig::machine
