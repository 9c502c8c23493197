// sprig bench async: what asking for work, doing it and waiting for it take of the imperative mode.
// Here: matrix products that are waited for one by one, together, or not at all.
#include "tools/sprig/bench/Imperative.h"

namespace sprig::cli {

void benchProducts(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t n = options.n ? options.n : 1000;
  std::string size = std::to_string(n);
  Tensor a = randn({n, n}), b = randn({n, n}), c = randn({n, n}), d = randn({n, n});
  synchronize();

  // Two products and their sum: the same graph, with a stop after each operation, and with one at the end.
  Tensor each, once;
  auto stopEach = [&] {
    Tensor p = matmul(a, b);
    p.wait();
    Tensor q = matmul(c, d);
    q.wait();
    each = p + q;
    each.wait();
  };
  auto stopOnce = [&] {
    once = matmul(a, b) + matmul(c, d);
    once.wait();
  };
  stopEach();
  stopOnce();
  std::vector<double> sum = leastSeconds(8, {stopEach, stopOnce});
  report.table("products", {"two products " + size + " x " + size + " and their sum", "ms"});
  report.row({"waiting after each operation", sum[0] * 1e3});
  report.row({"waiting once", sum[1] * 1e3});
  report.verdict("waiting once gives the same bits", size + "x" + size + " elements", sameBits(each, once));
  report.timed("waiting once takes no longer (within 3%)",
               formatDouble(sum[1] / sum[0], 3) + " times as long as waiting after each", sum[1] <= 1.03 * sum[0]);

  // Random matrices and products of them: how soon the host has its hands free.
  constexpr int kProducts = 10;
  std::vector<Tensor> kept(kProducts);
  auto issue = [&] {
    for (Tensor &result : kept) {
      Tensor x = randn({n, n});
      result = matmul(x, x);
    }
  };
  double issued = 1e300, run = 1e300;
  for (int round = 0; round < 5; ++round) {
    synchronize();
    auto start = Clock::now();
    issue();
    double free = secondsSince(start);
    synchronize();
    double all = secondsSince(start);
    if (!round) continue; // kernels are compiled
    issued = std::min(issued, free);
    run = std::min(run, all);
  }
  report.table("issue", {std::to_string(kProducts) + " random matrices and products of them", "ms"});
  report.row({"until they are asked for", issued * 1e3});
  report.row({"until they are computed", run * 1e3});
  report.timed("asking takes less than a tenth of computing", formatDouble(100 * issued / run, 3) + "%",
               issued < 0.1 * run);
}

void benchAsync(const ExperimentOptions &options, ExperimentReport &report) {
  manualSeed(1);
  benchProducts(options, report);
  benchTimeline(options, report);
  benchBlocking(options, report);
  benchFlood(options, report);
  benchShares(options, report); // the last: two devices are open from then on, and have half of the threads each
}

} // namespace sprig::cli
