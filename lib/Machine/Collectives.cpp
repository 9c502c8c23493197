#include "lib/Machine/Collectives.h"
#include "include/sprig/error.h"
#include <map>

namespace sprig::machine {

using rt::collective::Program;
using rt::collective::Step;

SimulatedProgram lanesOf(std::span<const Program> programs, std::span<const uint32_t> nodes, int64_t bytes,
                         const std::function<double(uint32_t node, int64_t bytes)> &reduceNs,
                         const Topology *handledAsIn) {
  using Kind = SimulatedCommand::Kind;
  SimulatedProgram made;
  std::vector<size_t> firstLane;
  for (const Program &program : programs) {
    firstLane.push_back(made.lanes.size());
    for (int lane = 0; lane < program.lanes; ++lane) made.lanes.push_back({nodes[size_t(program.rank)], {}});
  }
  // Messages between two ranks are taken in the order in which they are sent: event k of the pair is that of message k.
  std::map<std::pair<int, int>, std::vector<uint32_t>> events;
  std::map<std::pair<int, int>, size_t> sent, taken;
  auto event = [&](int from, int to, size_t number) {
    std::vector<uint32_t> &ofPair = events[{from, to}];
    while (ofPair.size() <= number) ofPair.push_back(made.events++);
    return ofPair[number];
  };
  auto handlingNs = [&, isHandled = handledAsIn && handledAsIn->handlesMessages()](uint32_t node, uint32_t peer,
                                                                                   int64_t size) {
    return isHandled ? handledAsIn->messageNs(node, peer, double(size)) : 0;
  };
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program &program = programs[i];
    uint32_t node = nodes[size_t(program.rank)];
    for (const Step &step : program.steps) {
      std::vector<SimulatedCommand> &commands = made.lanes[firstLane[i] + step.lane].commands;
      int64_t size =
          program.pieces ? rt::collective::piecesOf(bytes, program.pieces, step.piece, step.count).size() : 0;
      switch (step.kind) {
      case Step::Kind::send: {
        if (const double ns = handlingNs(node, nodes[size_t(step.peer)], size)) commands.push_back({Kind::work, ns});
        SimulatedCommand copy{Kind::copy, 0, 1, double(size), node, nodes[size_t(step.peer)]};
        copy.ended = event(program.rank, step.peer, sent[{program.rank, step.peer}]++);
        commands.push_back(copy);
        break;
      }
      case Step::Kind::receive:
      case Step::Kind::reduce: {
        SimulatedCommand wait{Kind::wait};
        wait.event = event(step.peer, program.rank, taken[{step.peer, program.rank}]++);
        commands.push_back(wait);
        if (const double ns = handlingNs(node, nodes[size_t(step.peer)], size)) commands.push_back({Kind::work, ns});
        if (step.kind == Step::Kind::reduce) commands.push_back({Kind::work, reduceNs(node, size)});
        break;
      }
      case Step::Kind::finish:
      case Step::Kind::keep: break;
      }
    }
  }
  return made;
}

std::vector<Program> programsOf(const rt::collective::Plan &plan) {
  std::vector<Program> programs(size_t(std::max(plan.ranks, 0)));
  std::string why;
  for (int rank = 0; rank < plan.ranks; ++rank)
    if (!rt::collective::makeProgram(plan, rank, programs[size_t(rank)], why)) badUse(why);
  return programs;
}

std::vector<Program> throughHelper(int ranks) {
  std::vector<Program> programs =
      programsOf({rt::collective::Kind::allReduce, rt::collective::Algorithm::star, ranks + 1});
  // What comes first is not added to anything.
  for (Step &step : programs[0].steps)
    if (step.kind == Step::Kind::reduce) {
      step.kind = Step::Kind::receive;
      break;
    }
  return programs;
}

namespace {

// Depth first: a ring is a way over all nodes back to the first, and what is left of the links has to have room for the
// next. Links that have the most beside them are tried first.
class RingSearch {
public:
  RingSearch(const Topology &topology, std::span<const uint32_t> nodes) : count(nodes.size()), left(count * count, 0) {
    for (const TopologyLink &link : topology.links)
      for (size_t a = 0; a < count; ++a)
        for (size_t b = 0; b < count; ++b)
          if (a != b && link.a == nodes[a] && link.b == nodes[b]) {
            left[a * count + b] += link.count;
            left[b * count + a] += link.count;
          }
  }

  bool find(int wanted) {
    rings.clear();
    return findRings(wanted);
  }
  std::vector<std::vector<int>> rings;

private:
  bool findRings(int wanted) {
    if (int(rings.size()) == wanted) return true;
    rings.push_back({0});
    std::vector<bool> seen(count, false);
    seen[0] = true;
    if (extend(wanted, seen)) return true;
    rings.pop_back();
    return false;
  }

  // rings.back() is a way that has begun.
  bool extend(int wanted, std::vector<bool> &seen) {
    if (++steps > kMostSteps) return false;
    size_t ring = rings.size() - 1, at = size_t(rings[ring].back());
    if (rings[ring].size() == count) {
      // Two nodes are a ring by the same link there and back, which carries both ways.
      bool isPair = count == 2;
      if (!isPair && !take(at, 0)) return false;
      if (findRings(wanted)) return true;
      if (!isPair) give(at, 0);
      return false;
    }
    for (int room = 4; room > 0; --room)
      for (size_t next = 0; next < count; ++next) {
        int has = left[at * count + next];
        if (seen[next] || (room == 4 ? has < room : has != room)) continue;
        take(at, next);
        seen[next] = true;
        rings[ring].push_back(int(next));
        if (extend(wanted, seen)) return true;
        rings[ring].pop_back();
        seen[next] = false;
        give(at, next);
      }
    return false;
  }

  bool take(size_t a, size_t b) {
    if (!left[a * count + b]) return false;
    --left[a * count + b];
    --left[b * count + a];
    return true;
  }
  void give(size_t a, size_t b) {
    ++left[a * count + b];
    ++left[b * count + a];
  }

  static constexpr int64_t kMostSteps = 1000000;
  size_t count;
  std::vector<int> left; // links between two nodes that no ring has
  int64_t steps = 0;
};

} // namespace

std::vector<std::vector<int>> disjointRings(const Topology &topology, std::span<const uint32_t> nodes, int most) {
  if (nodes.size() < 2) return {};
  for (int wanted = most; wanted > 0; --wanted) {
    RingSearch search(topology, nodes);
    if (search.find(wanted)) return search.rings;
  }
  return {};
}

} // namespace sprig::machine
