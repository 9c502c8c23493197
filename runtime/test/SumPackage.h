// A package whose one entry adds up over ranks. For tests of groups.
#ifndef SPRIG_RUNTIME_TEST_SUMPACKAGE_H
#define SPRIG_RUNTIME_TEST_SUMPACKAGE_H

#include "runtime/test/TestPackage.h"

#include <algorithm>
#include <optional>

namespace sprig::rt::test {

// "sum" of so many ranks: x + x is added up over them, in two buffers of which one is small and one is not, and the
// caller's output is the sum of both.
inline TestPackage sumPackage(uint32_t ranks, int64_t n, comm::Reduction reduction = comm::Reduction::sum,
                              std::optional<collective::Algorithm> algorithm = {}) {
  TestPackage package;
  EntryBuilder entry("sum");
  uint32_t x = entry.input("x", {n}), out = entry.output("out", {n}), t = entry.arena(uint64_t(n) * 4);
  entry.dispatch(0, Add, {x, x, t}, n, std::max<int64_t>(n, 1));
  entry.collective(0, {t}, {.reduction = reduction, .dtype = SPRIG_RT_U32, .algorithm = algorithm});
  entry.copy(0, t, out);
  entry.entry.ranks = ranks;
  package.program.entries.push_back(entry.entry);
  return package;
}

} // namespace sprig::rt::test

#endif
