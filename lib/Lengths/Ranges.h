// Into which programs a range of lengths falls, and which lengths tell what a program depends on. For whoever imports
// or records models at several lengths; knows nothing of MLIR.
#pragma once
#include "sprig/options.h"
#include <algorithm>
#include <bit>
#include <set>

namespace sprig {

/// The program for `length` among those for lengths up to powers of two, from 1 on and within `range`: what is computed
/// is at most twice what is asked for, and the cuts of long sums (docs/numerics.md) lie between programs.
inline LengthRange programOf(int64_t length, LengthRange range) {
  auto end = int64_t(std::bit_ceil(uint64_t(length)));
  return {std::max(range.first, end / 2 + 1), std::min(range.last, end)};
}

/// Both ends, neighbours of them, so that a step shows, and the middle; the longest first.
inline std::set<int64_t, std::greater<>> tellingLengths(LengthRange program) {
  std::set<int64_t, std::greater<>> lengths;
  int64_t middle = program.first + (program.last - program.first) / 2;
  for (int64_t each : {program.first, program.first + 1, middle, program.last - 1, program.last})
    if (each >= program.first && each <= program.last) lengths.insert(each);
  return lengths;
}

} // namespace sprig
