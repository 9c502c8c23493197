// sprig bench async: chains of products on two shares of the cores, alone and side by side, and a copy beside them.
#include "sprig/device.h"
#include "sprig/random.h"
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/bench/Imperative.h"

namespace sprig::cli {

namespace {

constexpr int kSharedProducts = 6, kRounds = 8;

/// A matrix on its device, and what is computed of it: some milliseconds.
struct Share {
  Device device;
  Tensor matrix, result;

  void issue() {
    result = matrix;
    for (int i = 0; i < kSharedProducts; ++i) result = matmul(result, matrix);
  }
};

} // namespace

void benchShares(const ExperimentOptions &options, ExperimentReport &report) {
  manualSeed(1);
  int64_t n = options.n ? options.n : 1000;
  Tensor matrix = randn({n, n}) * (1 / std::sqrt(double(n)));
  Share shares[2] = {{Device("cpu:0"), {}, {}}, {Device("cpu:1"), {}, {}}};
  for (Share &share : shares) share.matrix = matrix.to(share.device);
  auto alone = [&](Share &share) {
    share.issue();
    synchronize(share.device);
  };
  Tensor moved;
  std::vector<std::function<void()>> ways = {
      [&] { alone(shares[0]); },
      [&] { alone(shares[1]); },
      [&] {
        shares[0].issue();
        shares[1].issue();
        synchronize();
      },
      [&] {
        moved = matrix.to(shares[1].device);
        synchronize();
      },
      [&] { // the copy beside the products
        shares[0].issue();
        moved = matrix.to(shares[1].device, /*nonBlocking=*/true);
        synchronize();
      },
  };
  for (int warm = 0; warm < 3; ++warm) // segments that come again get compiled
    for (auto &way : ways) way();
  std::vector<double> t = leastSeconds(kRounds, ways);
  std::string size = std::to_string(n);
  report.table("shares", {std::to_string(kSharedProducts) + " products " + size + " x " + size, "ms"});
  report.row({"T0: on cpu:0 alone", t[0] * 1e3});
  report.row({"T1: on cpu:1 alone", t[1] * 1e3});
  report.row({"T: on both", t[2] * 1e3});
  report.table("copies", {"copy of " + std::to_string(n * n * 4) + " bytes to cpu:1", "ms"});
  report.row({"alone", t[3] * 1e3});
  report.row({"with the products on cpu:0", t[4] * 1e3});
  bool same = sameBits(shares[0].result, shares[1].result.to(shares[0].device)) && sameBits(moved, matrix);
  report.verdict("both devices give the same bits", "compared as bytes", same);
  if (sprig_rt_default_threads() < 2) {
    report.note("one core: two devices share it, and nothing runs side by side");
    return;
  }
  report.bothAtOnce(t[0], t[1], t[2]);
  report.timed("a copy beside the arithmetic takes no longer than both one after the other",
               formatDouble(t[4] / (t[0] + t[3]), 3) + " of the sum", t[4] < 1.03 * (t[0] + t[3]));
}

} // namespace sprig::cli
