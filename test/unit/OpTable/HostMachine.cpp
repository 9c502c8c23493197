#include "test/unit/OpTable/Machine.h"
#include <algorithm>

namespace sprig::optable {

std::vector<std::string> instructionSets(bool hasBytes, bool hasBf16) {
  std::vector<std::string> sets = {"x86-64-v3"};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) sets.push_back("x86-64-v4");
  if (hasBytes && __builtin_cpu_supports("avx512vnni")) sets.push_back("x86-64-v4-vnni");
  if (hasBf16 && __builtin_cpu_supports("avx512bf16")) sets.push_back("x86-64-v4-bf16");
  return sets;
}

// Code for more than a level is the best of a package, and has no name of its own.
std::vector<std::string> limits() {
  std::vector<std::string> names = instructionSets();
  for (std::string &name : names)
    if (name.ends_with("-vnni") || name.ends_with("-bf16")) name.clear();
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<int> threadCounts() { return {1, 2}; }

std::vector<uint8_t> runnable(std::vector<uint8_t> package) { return package; }

} // namespace sprig::optable
