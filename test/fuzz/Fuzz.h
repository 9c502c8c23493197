// What the fuzzers share. Each is one file that defines LLVMFuzzerTestOneInput for one reader: built with libFuzzer
// where the address sanitizer is on, else with ReplayMain.cpp, which feeds it the files of its corpus. A finding is
// whatever ends the process: a sanitizer's report, an exception that no reader may throw, a property that does not hold
// (`require`).
#pragma once
#include "sprig/error.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <span>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/// libFuzzer's own changes of bytes, for custom mutators; ReplayMain.cpp has a plain one.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
/// Where a fuzzer defines it, it makes all changed inputs: returns the new size, at most `maxSize`.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

namespace sprig::fuzz {

inline std::span<const char> chars(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

inline void require(bool condition, const std::string &property) {
  if (condition) return;
  std::fprintf(stderr, "property does not hold: %s\n", property.c_str());
  std::abort();
}

/// Runs a reader; whether it took the bytes. Refusing them is an Error that blames the input and says something; any
/// other exception is a finding.
template <typename Read> bool accepts(Read read) {
  try {
    read();
    return true;
  } catch (const Error &error) {
    require(error.kind() != ErrorKind::internal, std::string("a refusal blames the input, not Sprig: ") + error.what());
    require(*error.what() != 0, "a refusal says why");
    return false;
  }
}

/// Random choices of a mutator, all of them from libFuzzer's seed.
class Choices {
public:
  explicit Choices(unsigned seed) : random(seed) {}
  /// 0 to n - 1; n is at least 1.
  size_t below(size_t n) { return size_t(random() % n); }
  bool oneIn(size_t n) { return below(n) == 0; }
  template <typename List> auto &of(List &list) { return list[below(std::size(list))]; }

private:
  std::mt19937_64 random;
};

/// A number near what boundaries are made of, or near `old`.
inline uint64_t mutatedNumber(uint64_t old, Choices &choose) {
  static constexpr uint64_t kEdges[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        8,
                                        63,
                                        64,
                                        65,
                                        127,
                                        128,
                                        255,
                                        4095,
                                        4096,
                                        65535,
                                        1u << 31,
                                        uint64_t(1) << 32,
                                        INT64_MAX,
                                        uint64_t(INT64_MAX) + 1,
                                        UINT64_MAX};
  switch (choose.below(6)) {
  case 0: return old + 1;
  case 1: return old - 1;
  case 2: return old ^ (uint64_t(1) << choose.below(64));
  case 3: return old * 2;
  case 4: return choose.below(16);
  default: return choose.of(kEdges);
  }
}

} // namespace sprig::fuzz
