// What instruction sets this processor has and the system lets programs use, by LLVM's feature names.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPUFEATURES_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPUFEATURES_H

#include <string>
#include <string_view>
#include <vector>

namespace sprig::rt::core {

// Levels of the x86-64 psABI, as names of instruction sets: 2 for "x86-64-v2". 0: no such name.
int isaLevel(std::string_view isa);

struct CpuFeatures {
  int level = 0;                          // best of 2, 3, 4; 0: none (or not an x86-64)
  std::vector<std::string_view> features; // every feature that is there, sorted

  bool has(std::string_view feature) const;
  // Those that the level does not imply.
  std::vector<std::string_view> beyondLevel() const;
};

// Asked from the processor once.
const CpuFeatures &cpuFeatures();

} // namespace sprig::rt::core

#endif
