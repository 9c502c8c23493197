#include "runtime/device/cpu/CpuFeatures.h"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sprig::rt::core {

namespace {

// What the system must save on a context switch before the registers may be used (bits of XCR0).
enum class SavedState : uint32_t { None = 0, Ymm = 0x6, Zmm = 0xe6, Tiles = 0x60000 };

enum Register : uint8_t { Eax, Ebx, Ecx, Edx };

struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  uint8_t bit;
  SavedState state = SavedState::None;
  uint8_t level = 0; // level of the psABI that includes it; 0: none does
};

using enum SavedState;

constexpr Feature kFeatures[] = {
    // x86-64-v2
    {"cx16", 1, 0, Ecx, 13, None, 2},
    {"sahf", 0x80000001, 0, Ecx, 0, None, 2},
    {"popcnt", 1, 0, Ecx, 23, None, 2},
    {"sse3", 1, 0, Ecx, 0, None, 2},
    {"ssse3", 1, 0, Ecx, 9, None, 2},
    {"sse4.1", 1, 0, Ecx, 19, None, 2},
    {"sse4.2", 1, 0, Ecx, 20, None, 2},
    // x86-64-v3
    {"avx", 1, 0, Ecx, 28, Ymm, 3},
    {"avx2", 7, 0, Ebx, 5, Ymm, 3},
    {"bmi", 7, 0, Ebx, 3, None, 3},
    {"bmi2", 7, 0, Ebx, 8, None, 3},
    {"f16c", 1, 0, Ecx, 29, Ymm, 3},
    {"fma", 1, 0, Ecx, 12, Ymm, 3},
    {"lzcnt", 0x80000001, 0, Ecx, 5, None, 3},
    {"movbe", 1, 0, Ecx, 22, None, 3},
    // x86-64-v4
    {"avx512f", 7, 0, Ebx, 16, Zmm, 4},
    {"avx512bw", 7, 0, Ebx, 30, Zmm, 4},
    {"avx512cd", 7, 0, Ebx, 28, Zmm, 4},
    {"avx512dq", 7, 0, Ebx, 17, Zmm, 4},
    {"avx512vl", 7, 0, Ebx, 31, Zmm, 4},
    // beyond, that code may compute with
    {"adx", 7, 0, Ebx, 19},
    {"aes", 1, 0, Ecx, 25},
    {"amx-bf16", 7, 0, Edx, 22, Tiles},
    {"amx-fp16", 7, 1, Eax, 21, Tiles},
    {"amx-int8", 7, 0, Edx, 25, Tiles},
    {"amx-tile", 7, 0, Edx, 24, Tiles},
    {"avx512bf16", 7, 1, Eax, 5, Zmm},
    {"avx512bitalg", 7, 0, Ecx, 12, Zmm},
    {"avx512fp16", 7, 0, Edx, 23, Zmm},
    {"avx512ifma", 7, 0, Ebx, 21, Zmm},
    {"avx512vbmi", 7, 0, Ecx, 1, Zmm},
    {"avx512vbmi2", 7, 0, Ecx, 6, Zmm},
    {"avx512vnni", 7, 0, Ecx, 11, Zmm},
    {"avx512vp2intersect", 7, 0, Edx, 8, Zmm},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, Zmm},
    {"avxifma", 7, 1, Eax, 23, Ymm},
    {"avxneconvert", 7, 1, Edx, 5, Ymm},
    {"avxvnni", 7, 1, Eax, 4, Ymm},
    {"avxvnniint16", 7, 1, Edx, 10, Ymm},
    {"avxvnniint8", 7, 1, Edx, 4, Ymm},
    {"gfni", 7, 0, Ecx, 8},
    {"pclmul", 1, 0, Ecx, 1},
    {"sha", 7, 0, Ebx, 29},
    {"vaes", 7, 0, Ecx, 9, Ymm},
    {"vpclmulqdq", 7, 0, Ecx, 10, Ymm},
    {"xsave", 1, 0, Ecx, 26},
};

#if defined(__x86_64__)
uint32_t leafRegister(const Feature &feature) {
  uint32_t regs[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1], &regs[2], &regs[3])) return 0;
  return regs[feature.reg];
}

// What the system saves: nothing when it does not use XSAVE at all.
uint64_t savedState() {
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 27))) return 0;
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return uint64_t(edx) << 32 | eax;
}

CpuFeatures detect() {
  CpuFeatures found;
  uint64_t saved = savedState();
  int missing = 5; // lowest level with a missing feature
  for (const Feature &feature : kFeatures) {
    bool present =
        (leafRegister(feature) >> feature.bit & 1) && (saved & uint32_t(feature.state)) == uint32_t(feature.state);
    if (present)
      found.features.push_back(feature.name);
    else if (feature.level)
      missing = std::min<int>(missing, feature.level);
  }
  std::sort(found.features.begin(), found.features.end());
  found.level = missing > 2 ? missing - 1 : 0;
  return found;
}
#else
CpuFeatures detect() { return {}; }
#endif

} // namespace

int isaLevel(std::string_view isa) {
  if (isa == "x86-64-v2") return 2;
  if (isa == "x86-64-v3") return 3;
  return isa == "x86-64-v4" ? 4 : 0;
}

bool CpuFeatures::has(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

std::vector<std::string_view> CpuFeatures::beyondLevel() const {
  std::vector<std::string_view> result;
  for (const Feature &feature : kFeatures)
    if (feature.level == 0 && has(feature.name)) result.push_back(feature.name);
  return result;
}

const CpuFeatures &cpuFeatures() {
  static const CpuFeatures &features = *new CpuFeatures(detect()); // asked in static destructors, too
  return features;
}

} // namespace sprig::rt::core
