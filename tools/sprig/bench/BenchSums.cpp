// sprig bench sums: all-reduces by a star, a tree and a ring: right, and what each takes for 2 to 16 ranks of a
// network.
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Clusters.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/TopologyPresets.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/ThreadRanks.h"
#include "tools/sprig/bench/Experiment.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace sprig::cli {
namespace {

using rt::collective::Algorithm;
using rt::collective::Kind;

constexpr Algorithm kAll[] = {Algorithm::star, Algorithm::tree, Algorithm::ring};
constexpr int64_t kFew = 1000;

// [1, 1] of one thread and [2, 2] of the other.
void sumOfTwo(ExperimentReport &report) {
  report.table("two ranks", {"algorithm", "rank 0", "rank 1"});
  bool isRight = true;
  for (Algorithm algorithm : kAll) {
    rt::comm::ThreadRanks group({.ranks = 2});
    std::vector<std::vector<float>> values = {{1, 1}, {2, 2}};
    std::vector<rt::comm::Status> ended = group.run([&](rt::comm::Transport &transport) -> rt::comm::Status {
      std::vector<float> &own = values[size_t(transport.rank())];
      rt::comm::Buffers::Buffer buffer{own.data(), int64_t(own.size())};
      rt::comm::Communicator communicator(transport);
      return communicator.run({Kind::allReduce, algorithm, rt::comm::Reduction::sum}, {{&buffer, 1}});
    });
    for (const rt::comm::Status &status : ended)
      if (!status.isOk()) runtimeError("bench sums: " + std::string(status.message()));
    std::vector<Json> cells = {std::string(nameOf(algorithm))};
    for (const std::vector<float> &own : values)
      cells.push_back("[" + formatDouble(own[0]) + ", " + formatDouble(own[1]) + "]");
    report.row(cells);
    for (const std::vector<float> &own : values) isRight &= own == std::vector<float>{3, 3};
  }
  report.verdict("[1, 1] and [2, 2] are [3, 3] on both ranks", isRight ? "by every algorithm" : "not by all", isRight);
}

double nsOf(int ranks, Algorithm algorithm, int64_t bytes) {
  machine::Cluster cluster = machine::clusterOf(*machine::topologyPreset("10gbe"), ranks);
  return machine::playCollective(cluster.topology, machine::programsOf({Kind::allReduce, algorithm, ranks}),
                                 cluster.nodes, bytes)
      .ns;
}

} // namespace

void benchSums(const ExperimentOptions &options, ExperimentReport &report) {
  sumOfTwo(report);
  int64_t many = options.n ? options.n : 100000000;
  std::map<std::pair<Algorithm, int>, double> few, all;
  report.table("simulated on 10gbe",
               {"ranks", "us of few, star", "tree", "ring", "ms of many, star", "tree of many", "ring of many"});
  for (int ranks = 2; ranks <= 16; ++ranks) {
    std::vector<Json> cells = {ranks};
    for (Algorithm algorithm : kAll) cells.push_back((few[{algorithm, ranks}] = nsOf(ranks, algorithm, kFew)) / 1e3);
    for (Algorithm algorithm : kAll) cells.push_back((all[{algorithm, ranks}] = nsOf(ranks, algorithm, many)) / 1e6);
    report.row(cells);
  }
  auto isNear = [](double a, double b) { return std::abs(a / b - 1) < 1e-6; };
  bool isSame = isNear(few[{Algorithm::tree, 2}], few[{Algorithm::star, 2}]) &&
                isNear(all[{Algorithm::tree, 2}], all[{Algorithm::star, 2}]);
  report.verdict("of two ranks a tree is a star", isSame ? "the same times" : "other times", isSame);
  bool gains = true, rings = true;
  double before = 0;
  for (int ranks = 8; ranks <= 16; ++ranks) {
    double gain = few[{Algorithm::star, ranks}] / few[{Algorithm::tree, ranks}];
    gains &= gain > 1;
    if (ranks == 8) before = gain;
  }
  double last = few[{Algorithm::star, 16}] / few[{Algorithm::tree, 16}];
  report.verdict("from 8 ranks on a tree beats a star for few bytes, more and more",
                 formatDouble(before, 3) + " times at 8, " + formatDouble(last, 3) + " at 16", gains && last > before);
  for (int ranks = 3; ranks <= 16; ++ranks)
    rings &= all[{Algorithm::ring, ranks}] < std::min(all[{Algorithm::star, ranks}], all[{Algorithm::tree, ranks}]);
  report.verdict("from 3 ranks on a ring is the quickest for many bytes", rings ? "of all" : "not of all", rings);
  double flat = all[{Algorithm::ring, 16}] / all[{Algorithm::ring, 4}];
  report.verdict("16 ranks of a ring take at most 1.3 of 4", formatDouble(flat, 3) + " times", flat <= 1.3);
  report.note(std::to_string(kFew) + " and " + std::to_string(many) + " bytes");
}

} // namespace sprig::cli
