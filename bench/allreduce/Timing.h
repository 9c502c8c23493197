// What the programs of this folder share: sizes, how often each is summed, and lines that compare.py reads. Each rank
// sums float32 in place; rank 0 prints the median seconds of a call.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

inline int callsOf(int64_t bytes) { return int(std::clamp<int64_t>(30000000 / (bytes + 20000), 5, 501)); }

// `sum` adds up `count` floats over all ranks; `meet` is a barrier before each call.
template <typename Sum, typename Meet> void timeSums(int rank, Sum sum, Meet meet) {
  for (int64_t bytes : {4, 64, 1024, 8192, 65536, 262144, 1048576, 4194304, 16777216, 67108864}) {
    std::vector<float> numbers(size_t(bytes / 4), 1.f);
    std::vector<double> seconds;
    for (int call = -2; call < callsOf(bytes); ++call) {
      std::fill(numbers.begin(), numbers.end(), 1.f);
      meet();
      auto begin = std::chrono::steady_clock::now();
      sum(numbers.data(), numbers.size());
      std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (call >= 0) seconds.push_back(taken.count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + ptrdiff_t(seconds.size() / 2), seconds.end());
    if (rank == 0) std::printf("%lld %.9g\n", static_cast<long long>(bytes), seconds[seconds.size() / 2]);
  }
}
