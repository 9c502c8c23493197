#include "tools/sprig/train/RankLink.h"
#include "runtime/comm/RankLimits.h"
#include "lib/Machine/MachineModel.h"
#include "sprig/error.h"
#include "sprig/rt/links.hpp"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/train/ExpectedLink.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace sprig::cli {
namespace {

// Of the small ones half are below the time that counts, of the large ones the best: others use the machine, too.
constexpr int kSmallRuns = 9, kLargeRuns = 3;
constexpr size_t kSmallBytes = 256, kLargeBytes = size_t(256) << 10;

double secondsOf(sprig_rt_group *group, std::vector<float> &values) {
  auto begin = std::chrono::steady_clock::now();
  check(sprig_rt_group_all_reduce(group, SPRIG_RT_F32, SPRIG_RT_MAX, values.data(), values.size(), "link"));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

RankLink rankLinkOf(const machine::RankLink &between, int ranks, const std::string &source) {
  using rt::collective::Algorithm;
  constexpr double kMany = 1e9;
  double none = machine::allReduceSeconds(between, Algorithm::ring, ranks, 0);
  return {machine::allReduceSeconds(between, ranks, 0),
          kMany / (machine::allReduceSeconds(between, Algorithm::ring, ranks, kMany) - none), true, source};
}

RankLink measureLink(sprig_rt_group *group, int threads) {
  std::vector<float> small(kSmallBytes / sizeof(float)), large(kLargeBytes / sizeof(float));
  std::vector<double> times;
  secondsOf(group, small); // connections are made
  for (int i = 0; i < kSmallRuns; ++i) times.push_back(secondsOf(group, small));
  std::nth_element(times.begin(), times.begin() + kSmallRuns / 2, times.end());
  bool isApart = sprig_rt_group_has_core_beside(group, uint32_t(threads));
  RankLink link{times[kSmallRuns / 2], 0, isApart, "measured"};
  double best = secondsOf(group, large);
  for (int i = 1; i < kLargeRuns; ++i) best = std::min(best, secondsOf(group, large));
  link.bytesPerSecond = double(kLargeBytes) / std::max(best - link.latency, best / 10);
  return link;
}

RankLink linkOfThreads(int ranks, int threads) {
  std::vector<std::string> native = {"native"};
  machine::MachineModel model = machine::modelFor(native);
  bool isApart = rt::comm::hasCores(uint64_t(ranks) * (uint64_t(threads) + 1));
  RankLink link = rankLinkOf(machine::betweenThreads(model), ranks, "by the machine's model");
  link.isApart = isApart;
  return link;
}

RankLink usualLink() { return rankLinkOf(machine::betweenProcesses(), 2, "as between processes of one machine"); }

RankLink givenOr(RankLink own, const Settings &settings, int ranks) {
  if (settings.links.empty()) return own;
  double latencyNs = 0, rate = INFINITY;
  for (const std::string &text : settings.links) {
    rt::GivenLink link;
    if (std::string why = rt::parseGivenLink(text, link); !why.empty())
      throw Error(ErrorKind::usage, "--link " + text + ": " + why);
    latencyNs = std::max(latencyNs, link.latencyNs());
    rate = std::min(rate, link.rates.rate.bytesPerSecond() / (link.halfDuplex ? 2 : 1));
  }
  RankLink given = rankLinkOf({{latencyNs * 1e-9, rate}}, ranks, "of --link or --topology");
  given.isApart = own.isApart;
  return given;
}

int64_t ofFirstRank(sprig_rt_group *group, int64_t own) {
  uint64_t number = sprig_rt_group_rank(group) == 0 ? uint64_t(own) : 0;
  check(sprig_rt_group_all_reduce(group, SPRIG_RT_U64, SPRIG_RT_SUM, &number, 1, "the size of buckets"));
  return int64_t(number);
}

} // namespace sprig::cli
