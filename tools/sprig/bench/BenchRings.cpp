// sprig bench rings: a ring's steps in numbers, and one ring beside both ways around and several rings.
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/Experiment.h"
#include <algorithm>
#include <map>

namespace sprig::cli {
namespace {

using rt::collective::Algorithm;
using rt::collective::Kind;
using rt::collective::Program;
using rt::collective::Step;

constexpr int kRanks = 4;
constexpr int64_t kElements = 8;

using Numbers = std::vector<int>;

// All ranks' programs on their numbers, message by message; what each holds after each of its sends was taken.
class RingPlay {
public:
  explicit RingPlay(const std::vector<Program> &programs) : programs(programs) {
    for (int rank = 0; rank < kRanks; ++rank) {
      held.emplace_back();
      for (int i = 0; i < kElements; ++i) held.back().push_back(i + rank + 1);
    }
  }

  std::vector<Numbers> held;
  size_t messages = 0; // of a rank

  /// One message from each rank, and what is done with it; false where all have ended.
  bool step() {
    bool moved = false;
    std::map<int, Numbers> sent; // by receiver
    for (int rank = 0; rank < kRanks; ++rank)
      if (const Step *send = next(rank, Step::Kind::send)) {
        auto range = rangeOf(rank, *send);
        sent[send->peer] = {held[size_t(rank)].begin() + range.begin, held[size_t(rank)].begin() + range.end};
        ++at[rank];
        moved = true;
      }
    for (int rank = 0; rank < kRanks; ++rank) {
      const Step *take = next(rank, Step::Kind::receive);
      if (!take) continue;
      auto range = rangeOf(rank, *take);
      for (int64_t i = range.begin; i < range.end; ++i) {
        int &own = held[size_t(rank)][size_t(i)];
        own = sent[rank][size_t(i - range.begin)] + (take->kind == Step::Kind::reduce ? own : 0);
      }
      ++at[rank];
    }
    messages += moved;
    return moved;
  }

private:
  // What finishes has nothing to do with numbers.
  const Step *next(int rank, Step::Kind kind) {
    const std::vector<Step> &steps = programs[size_t(rank)].steps;
    while (at[rank] < steps.size() && steps[at[rank]].kind == Step::Kind::finish) ++at[rank];
    if (at[rank] == steps.size()) return nullptr;
    bool isSend = steps[at[rank]].kind == Step::Kind::send;
    return isSend == (kind == Step::Kind::send) ? &steps[at[rank]] : nullptr;
  }
  rt::collective::Range rangeOf(int rank, const Step &step) const {
    return rt::collective::piecesOf(kElements, programs[size_t(rank)].pieces, step.piece, step.count);
  }

  const std::vector<Program> &programs;
  std::map<int, size_t> at;
};

std::string ringText(const Numbers &numbers) {
  std::string text;
  for (int number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

void showSteps(ExperimentReport &report) {
  std::vector<Program> programs = machine::programsOf({Kind::allReduce, Algorithm::ring, kRanks});
  RingPlay play(programs);
  report.table("steps", {"step", "rank 0", "rank 1", "rank 2", "rank 3"});
  auto row = [&](size_t step) {
    std::vector<Json> cells = {step};
    for (const Numbers &numbers : play.held) cells.push_back(ringText(numbers));
    report.row(cells);
  };
  row(0);
  bool ownsNext = true;
  Numbers sums;
  for (int i = 0; i < kElements; ++i) sums.push_back(4 * i + 10);
  while (play.step()) {
    row(play.messages);
    if (play.messages != kRanks - 1) continue;
    for (int rank = 0; rank < kRanks; ++rank) {
      auto piece = rt::collective::pieceOf(kElements, kRanks, uint32_t((rank + 1) % kRanks));
      ownsNext &= std::equal(sums.begin() + piece.begin, sums.begin() + piece.end,
                             play.held[size_t(rank)].begin() + piece.begin);
    }
  }
  report.verdict("4 ranks take 2 (4 - 1) steps", std::to_string(play.messages), play.messages == 6);
  report.verdict("after 3 rank i has the sum of piece i + 1", ownsNext ? "all have" : "not all", ownsNext);
  bool isRight = std::all_of(play.held.begin(), play.held.end(), [&](auto &each) { return each == sums; });
  report.verdict("in the end all have " + ringText(sums), isRight ? "all have" : "not all", isRight);
}

machine::Node card(int number) {
  machine::Node node{"cuda:" + std::to_string(number)};
  node.flops = 15.7e12;
  node.bandwidth = machine::Rate::ofBytes(900e9);
  return node;
}

// Neighbours of a circle, or all pairs, have a link of 1.5 us and 37.5 GB/s each way.
machine::Topology joined(int count, bool isCircle) {
  machine::Topology made;
  made.name = isCircle ? "a circle of 8" : "all pairs of 5";
  for (int i = 0; i < count; ++i) made.add(card(i));
  for (uint32_t a = 0; a < uint32_t(count); ++a)
    for (uint32_t b = a + 1; b < uint32_t(count); ++b)
      if (!isCircle || b == a + 1 || (a == 0 && b + 1 == uint32_t(count)))
        made.links.push_back({a, b, 1500, machine::Rate::ofBytes(37.5e9)});
  return made;
}

std::vector<uint32_t> cardsOf(const machine::Topology &topology) {
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < topology.nodes.size(); ++i)
    if (topology.nodes[i].name.starts_with("cuda:")) nodes.push_back(i);
  return nodes;
}

double msOf(const machine::Topology &topology, const rt::collective::Plan &plan, int64_t bytes) {
  return machine::playCollective(topology, machine::programsOf(plan), cardsOf(topology), bytes).ns / 1e6;
}

} // namespace

void benchRings(const ExperimentOptions &options, ExperimentReport &report) {
  showSteps(report);
  int64_t bytes = options.n ? options.n : 100000000;
  report.table("simulated", {"links", "ring ms", "both ways ms", "rings", "rings ms"});
  machine::Topology machines[] = {joined(8, true), joined(5, false), *machine::topologyPreset("v100-nvlink")};
  for (const machine::Topology &topology : machines) {
    std::vector<uint32_t> nodes = cardsOf(topology);
    int ranks = int(nodes.size());
    std::vector<std::vector<int>> rings = machine::disjointRings(topology, nodes, 4);
    rt::collective::Plan one{Kind::allReduce, Algorithm::rings, ranks}, all = one;
    one.rings = {rings.front()};
    all.rings = rings;
    double ring = msOf(topology, one, bytes), several = msOf(topology, all, bytes),
           both = msOf(topology, {Kind::allReduce, Algorithm::bidirectional, ranks}, bytes);
    report.row({topology.name, ring, both, rings.size(), several});
    if (&topology == &machines[0])
      report.verdict("half of the bytes each way around takes at most 0.55 of the time",
                     formatDouble(both / ring, 3) + " on " + topology.name, both <= 0.55 * ring);
    else if (&topology == &machines[1])
      report.verdict("two rings that share no link take half of the time",
                     formatDouble(several / ring, 3) + " on " + topology.name,
                     rings.size() == 2 && several <= 0.55 * ring);
    else // whose one ring is along links that are double
      report.verdict("rings that take all links are faster than one",
                     std::to_string(rings.size()) + " rings take " + formatDouble(several / ring, 3) + " on " +
                         topology.name,
                     rings.size() == 3 && several < ring);
  }
  report.note(std::to_string(bytes) + " bytes; the ring is along links of its own");
}

} // namespace sprig::cli
