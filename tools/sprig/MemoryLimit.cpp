#include "tools/sprig/MemoryLimit.h"
#include "runtime/base/Decimal.h"
#include "runtime/machine/Machine.h"
#include "tools/sprig/Report.h"
#include <map>
#include <sys/resource.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPRIG_MANY_SHADOWS // a sanitizer's maps of all of the address space count as memory
#endif
#endif

namespace sprig::cli {
namespace {

constexpr uint64_t kLeast = 64'000'000;
uint64_t given = 0;

// Private memory that can be written: the heap, threads' stacks, not files that are mapped.
void setLimit(uint64_t bytes) {
#ifndef SPRIG_MANY_SHADOWS
  struct rlimit limit;
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes) return;
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

} // namespace

uint64_t parseBytes(const std::string &flag, const std::string &text) {
  std::string_view rest = text;
  double value = decimal::take(rest).value_or(-1);
  std::string unit(rest);
  static const std::map<std::string, double> units = {{"", 1},
                                                      {"B", 1},
                                                      {"KB", 1e3},
                                                      {"MB", 1e6},
                                                      {"GB", 1e9},
                                                      {"K", 1024},
                                                      {"M", 1 << 20},
                                                      {"G", 1 << 30},
                                                      {"TB", 1e12},
                                                      {"KiB", 1024},
                                                      {"MiB", 1 << 20},
                                                      {"GiB", 1 << 30},
                                                      {"TiB", double(1ull << 40)}};
  auto found = units.find(unit);
  if (found == units.end() || !(value >= 0) || value * found->second > 1e18)
    badUse(flag + " " + text + ": expected bytes up to 10^18, as 64000000, 64MB or 61MiB");
  return uint64_t(value * found->second);
}

void limitMemory(uint64_t bytes) {
  if (bytes < kLeast) badUse("--max-memory " + std::to_string(bytes) + ": expected at least 64MB");
  given = bytes;
  setLimit(bytes);
}

void limitMemoryToMachine() { setLimit(rt::core::usableMemory()); }

uint64_t givenMemoryLimit() { return given; }

} // namespace sprig::cli
