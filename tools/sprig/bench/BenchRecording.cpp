// The second half of `sprig bench overhead`: what recording an operation takes of the host, and what a small operation
// takes altogether.
#include "sprig/grad.h"
#include "tools/sprig/bench/Imperative.h"
#include <algorithm>

namespace sprig::cli {

void benchRecording(const ExperimentOptions &, ExperimentReport &report) {
  NoGrad inference;
  // A chain of additions of 16 numbers, as many as one segment takes before it is cut.
  constexpr int kOperations = 1000, kRounds = 200;
  Tensor x = full({16}, 1.0), y = full({16}, 0.5);
  synchronize();
  auto chain = [&] {
    Tensor z = x;
    for (int i = 0; i < kOperations; ++i) z = z + y;
    return z;
  };
  double recording = 1e300, all = 1e300, alone = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    synchronize();
    auto start = Clock::now();
    Tensor z = chain();
    recording = std::min(recording, secondsSince(start));
    z.wait();
    all = std::min(all, secondsSince(start));
  }
  for (int round = 0; round < kRounds * 10; ++round) {
    auto start = Clock::now();
    (x + y).wait();
    alone = std::min(alone, secondsSince(start));
  }
  double each = recording / kOperations * 1e9;
  report.table("imperative", {"an addition of 16 numbers", "ns"});
  report.row({"recorded", each});
  report.row({"recorded and computed, " + std::to_string(kOperations) + " together", all / kOperations * 1e9});
  report.row({"recorded, computed and read by itself", alone * 1e9});
  report.timed("recording an operation takes less than 300 ns", formatDouble(each, 4) + " ns", each < 300);
}

} // namespace sprig::cli
