#include "lib/Machine/ExpectedLink.h"
#include <algorithm>
#include <chrono>
#include <vector>

namespace sprig::machine {
namespace {

// Of the small ones half are below the time that counts, of the large ones the best: others use the machine, too.
constexpr int kSmallRuns = 9, kLargeRuns = 3;
constexpr size_t kSmallBytes = 256, kLargeBytes = size_t(256) << 10;

double secondsOf(const std::function<void(std::span<float>)> &allReduce, std::vector<float> &values) {
  auto begin = std::chrono::steady_clock::now();
  allReduce(values);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

ExpectedLink expectedLinkOf(const RankLink &between, int ranks, const std::string &source) {
  using rt::collective::Algorithm;
  constexpr double kMany = 1e9;
  double none = allReduceSeconds(between, Algorithm::ring, ranks, 0);
  return {allReduceSeconds(between, ranks, 0),
          kMany / (allReduceSeconds(between, Algorithm::ring, ranks, kMany) - none), true, source};
}

ExpectedLink measureLink(const std::function<void(std::span<float>)> &allReduce, bool isApart) {
  std::vector<float> small(kSmallBytes / sizeof(float)), large(kLargeBytes / sizeof(float));
  std::vector<double> times;
  secondsOf(allReduce, small); // connections are made
  for (int i = 0; i < kSmallRuns; ++i) times.push_back(secondsOf(allReduce, small));
  std::nth_element(times.begin(), times.begin() + kSmallRuns / 2, times.end());
  ExpectedLink link{times[kSmallRuns / 2], 0, isApart, "measured"};
  double best = secondsOf(allReduce, large);
  for (int i = 1; i < kLargeRuns; ++i) best = std::min(best, secondsOf(allReduce, large));
  link.bytesPerSecond = double(kLargeBytes) / std::max(best - link.latency, best / 10);
  return link;
}

ExpectedLink linkOfThreads(int ranks, bool isApart) {
  std::vector<std::string> native = {"native"};
  ExpectedLink link = expectedLinkOf(betweenThreads(modelFor(native)), ranks, "by the machine's model");
  link.isApart = isApart;
  return link;
}

ExpectedLink usualLink() { return expectedLinkOf(betweenProcesses(), 2, "as between processes of one machine"); }

} // namespace sprig::machine
