#include "lib/Machine/DotRates.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/MachineFile.h"
#include "lib/Machine/Rates.h"
#include "runtime/machine/DotsOfHalves.h"
#include "runtime/machine/Machine.h"
#include <algorithm>
#include <cstdint>
#include <immintrin.h>

namespace sprig::machine {
namespace {

// Ten independent chains hide the latency of the units, as in Rates.cpp.
constexpr int kDotChains = 10;

// One loop for each instruction; a macro because intrinsics of a type are no template. OPERATIONS: of one instruction.
#define SPRIG_DOT_LOOP(NAME, TARGET, SUM, FACTOR, OPERATIONS, STEP)                                                    \
  TARGET int64_t NAME(int64_t iterations) {                                                                            \
    SUM acc[kDotChains] = {};                                                                                          \
    FACTOR a = {}, b = {};                                                                                             \
    asm volatile("" : "+x"(a), "+x"(b));                                                                               \
    for (int64_t i = 0; i < iterations; ++i) _Pragma("clang loop unroll(full)") for (int c = 0; c < kDotChains; ++c) { \
        acc[c] = STEP(acc[c], a, b);                                                                                   \
        asm volatile("" : "+x"(acc[c]));                                                                               \
      }                                                                                                                \
    return iterations * kDotChains * (OPERATIONS);                                                                     \
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

// Four sums hide the latency of the matrix unit, whose tiles have 16 rows of 64 bytes.
__attribute__((target("amx-tile,amx-int8"))) int64_t matrices(int64_t iterations) {
  constexpr int kRows = 16, kBytes = 64, kStepsOfChain = kDotChains / 4;
  alignas(64) uint8_t sizes[64] = {1}; // the palette; bytes of a row from byte 16 on, two each, rows from byte 48 on
  for (int tile = 0; tile < 6; ++tile) sizes[16 + 2 * tile] = kBytes, sizes[48 + tile] = kRows;
  _tile_loadconfig(sizes);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5);
  for (int64_t i = 0; i < iterations; i += kStepsOfChain)
    _tile_dpbusd(0, 4, 5), _tile_dpbusd(1, 4, 5), _tile_dpbusd(2, 4, 5), _tile_dpbusd(3, 4, 5);
  _tile_release();
  return (iterations + kStepsOfChain - 1) / kStepsOfChain * 4 * (kRows * kRows * kBytes * 2);
}

using Loop = int64_t (*)(int64_t);

bool dotsOfBf16Pay() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") && rt::core::dotsOfHalvesPay();
}

bool hasMatrices() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("amx-int8") && rt::core::mayUseTiles();
}

// Null: none of its own.
Loop loopOf(Factors factors) {
  __builtin_cpu_init();
  if (factors == Factors::bf16) return dotsOfBf16Pay() ? halves512 : nullptr;
  if (factors != Factors::bytes) return nullptr;
  if (hasMatrices()) return matrices;
  if (__builtin_cpu_supports("avx512vnni")) return bytes512;
  if (__builtin_cpu_supports("avxvnni")) return bytes256;
  if (__builtin_cpu_supports("avx512bw")) return pairs512;
  return __builtin_cpu_supports("avx2") ? pairs256 : pairs128;
}

// What the instructions make for one fused multiply-add: a dot product as many in its time as it has factors; a step of
// the matrix unit 16 x 16 x 64 in 16 cycles, in which there are 16 x 32 multiply-adds.
constexpr int kOfBytes = 4, kOfBf16 = 2, kOfMatrices = 32;

} // namespace

int productsOfOne(Factors factors) {
  __builtin_cpu_init();
  if (factors == Factors::bf16) return dotsOfBf16Pay() ? kOfBf16 : 1;
  if (factors != Factors::bytes) return 1;
  if (hasMatrices()) return kOfMatrices;
  return __builtin_cpu_supports("avx512vnni") || __builtin_cpu_supports("avxvnni") ? kOfBytes : 1;
}

// Of a level, or of this processor.
static int productsOfOne(std::string_view cpu, Factors factors) {
  if (cpu == "native") return productsOfOne(factors);
  bool hasHalves = cpu.ends_with("-bf16");
  if (factors == Factors::bf16) return hasHalves ? kOfBf16 : 1;
  return cpu.ends_with("-amx") ? kOfMatrices : hasHalves || cpu.ends_with("-vnni") ? kOfBytes : 1;
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

// Kernels do without such instructions about as well as in f32.
void ProductRates::setDots(int ofBytes, int ofBf16) {
  bytes = rates.fmaFlops * ofBytes;
  bf16 = rates.fmaFlops * ofBf16;
}

ProductRates::ProductRates(const Calibration &found) : rates(modelOf(found)) {
  setDots(productsOfOne(Factors::bytes), productsOfOne(Factors::bf16));
  if (found.byteDots > 0) bytes = found.byteDots;
  if (found.bf16Dots > 0) bf16 = found.bf16Dots;
}

ProductRates::ProductRates(std::span<const std::string> cpus) : rates(modelFor(cpus)) {
  bool isNative = cpus.size() == 1 && cpus[0] == "native";
  if (auto kept = isNative ? keptCalibration() : std::nullopt) {
    *this = ProductRates(*kept);
    return;
  }
  int ofBytes = kOfMatrices, ofBf16 = kOfBf16;
  for (const std::string &cpu : cpus) {
    ofBytes = std::min(ofBytes, productsOfOne(cpu, Factors::bytes));
    ofBf16 = std::min(ofBf16, productsOfOne(cpu, Factors::bf16));
  }
  setDots(ofBytes, ofBf16);
}

double ProductRates::rate(Factors factors, int threads) const {
  double all = rates.flopRate(threads);
  if (factors == Factors::f32) return all;
  return all * ((factors == Factors::bytes ? bytes : bf16) / rates.fmaFlops);
}

} // namespace sprig::machine
