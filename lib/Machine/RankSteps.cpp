#include "lib/Machine/RankSteps.h"
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Collectives.h"
#include "runtime/collective/AxisGroup.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace sprig::machine {

using rt::collective::Program;
using rt::collective::Step;
using CommandKind = SimulatedCommand::Kind;

namespace {

// What tells apart the meetings that have programs of their own.
using Key =
    std::tuple<rt::collective::Kind, rt::collective::Algorithm, int, std::vector<int64_t>, std::vector<uint32_t>>;
Key keyOf(const Meeting &meeting) {
  return {meeting.kind, meeting.algorithm, meeting.root, meeting.mesh, meeting.over};
}

// Whether all machines do what the first does, with peers that are as many machines further.
bool isSameOfAll(const std::vector<Program> &programs, int perMachine) {
  int ranks = int(programs.size());
  for (int rank = perMachine; rank < ranks; ++rank) {
    const Program &own = programs[size_t(rank)], &first = programs[size_t(rank % perMachine)];
    if (own.steps.size() != first.steps.size() || own.lanes != first.lanes) return false;
    int shift = rank - rank % perMachine;
    for (size_t i = 0; i < own.steps.size(); ++i) {
      const Step &a = own.steps[i], &b = first.steps[i];
      int peer = b.peer < 0 ? -1 : (b.peer + shift) % ranks;
      if (a.kind != b.kind || a.lane != b.lane || a.peer != peer || a.count != b.count) return false;
    }
  }
  return true;
}

struct Range {
  uint32_t lane = 0;
  size_t begin = 0, end = 0;
};

// By lane and command: which of the rank's meetings a command's first one is. Lanes and events order all of them, so
// they come in the same order however lanes are run; ranks may have them on different lanes.
std::vector<std::vector<uint32_t>> numbersOf(const RankStep &step) {
  std::vector<std::vector<uint32_t>> numbers(step.lanes.size());
  std::vector<bool> isRecorded(step.events, false);
  uint32_t next = 0;
  auto run = [&](size_t lane) {
    size_t before = numbers[lane].size();
    for (size_t at = before; at < step.lanes[lane].size(); ++at) {
      const RankStep::Command &each = step.lanes[lane][at];
      if (each.meetings.empty()) {
        if (each.command.kind == CommandKind::wait && !isRecorded[each.command.event]) break;
        if (each.command.kind == CommandKind::record) isRecorded[each.command.event] = true;
        if (each.command.ended) isRecorded[*each.command.ended] = true;
      }
      numbers[lane].push_back(next);
      next += uint32_t(each.meetings.size());
    }
    return numbers[lane].size() > before;
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t lane = 0; lane < numbers.size(); ++lane) isMoving |= run(lane);
  }
  // What waits for ever is told by who plays it.
  for (size_t lane = 0; lane < numbers.size(); ++lane) numbers[lane].resize(step.lanes[lane].size(), next);
  return numbers;
}

} // namespace

struct RankLanes::Maker {
  Maker(const Cluster &cluster, std::span<const RankStep *const> steps, Played played)
      : cluster(cluster), isOne(played == Played::one), isAlone(played == Played::alone),
        topology(isOne ? cluster.one->topology : cluster.topology), nodes(isOne ? cluster.one->nodes : cluster.nodes),
        handlesMessages(topology.handlesMessages()), addingUp(addingUpOn(topology)) {
    made.followsItself = true;
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      firstLane.push_back(uint32_t(made.lanes.size()));
      firstEvent.push_back(made.events);
      const RankStep &step = *steps[std::min(rank, steps.size() - 1)];
      made.events += step.events;
      for (size_t lane = 0; lane < step.lanes.size(); ++lane) made.lanes.push_back({nodes[rank], {}});
      ranges.emplace_back(step.lanes.size());
    }
    for (size_t rank = 0; rank < nodes.size(); ++rank) addStep(int(rank), *steps[std::min(rank, steps.size() - 1)]);
  }

  void addStep(int rank, const RankStep &step) {
    std::vector<std::vector<uint32_t>> numbers = numbersOf(step);
    for (uint32_t lane = 0; lane < step.lanes.size(); ++lane) {
      uint32_t at = firstLane[size_t(rank)] + lane;
      for (size_t command = 0; command < step.lanes[lane].size(); ++command) {
        const RankStep::Command &each = step.lanes[lane][command];
        uint32_t number = numbers[lane][command];
        Range range{at, made.lanes[at].commands.size(), 0};
        for (const Meeting &meeting : each.meetings) {
          if (!isAlone) meet(rank, at, number, meeting);
          ++number;
        }
        if (each.meetings.empty()) addOwn(rank, at, each.command);
        range.end = made.lanes[at].commands.size();
        ranges[size_t(rank)][lane].push_back(range);
      }
    }
  }

  void addOwn(int rank, uint32_t lane, SimulatedCommand command) {
    command.event += firstEvent[size_t(rank)];
    if (command.ended) *command.ended += firstEvent[size_t(rank)];
    command.from = command.to = nodes[size_t(rank)];
    made.lanes[lane].commands.push_back(command);
  }

  // Programs of all ranks, and whether one machine stands for the others in them.
  struct Programs {
    std::vector<Program> of;
    bool isSame = true;
  };
  const Programs &programsFor(const Meeting &meeting) {
    auto [found, isNew] = programs.try_emplace(keyOf(meeting));
    if (isNew) {
      found->second.of = makePrograms(meeting);
      found->second.isSame = !isOne || isSameOfAll(found->second.of, cluster.perMachine);
    }
    return found->second;
  }

  // Of groups side by side each has its own, by the numbers of all ranks.
  std::vector<Program> makePrograms(const Meeting &meeting) const {
    std::vector<Program> made(size_t(cluster.ranks()));
    for (int rank = 0; rank < cluster.ranks(); ++rank) {
      std::vector<int> group = meeting.groupOf(rank, cluster.ranks());
      if (group.front() != rank) continue; // the first makes all of its group
      bool isOfAll = group.size() == made.size();
      rt::collective::Plan plan{meeting.kind, meeting.algorithm, int(group.size()), meeting.root,
                                isOfAll ? cluster.perMachine : 1};
      if (plan.algorithm == rt::collective::Algorithm::rings) {
        std::vector<uint32_t> own;
        for (int member : group) own.push_back(cluster.nodes[size_t(member)]);
        plan.rings = disjointRings(cluster.topology, own, 4);
      }
      std::vector<Program> programs = programsOf(plan);
      for (size_t place = 0; place < group.size(); ++place) {
        Program &program = made[size_t(group[place])] = std::move(programs[place]);
        program.rank = group[place];
        for (Step &step : program.steps)
          if (step.peer >= 0) step.peer = group[size_t(step.peer)];
      }
    }
    return made;
  }

  void meet(int rank, uint32_t lane, uint32_t number, const Meeting &meeting) {
    const Programs &all = programsFor(meeting);
    if (!all.isSame) return pause(lane, aloneNs(rank, meeting, all.of));
    const Program &program = all.of[size_t(rank)];
    std::vector<uint32_t> lanes = {lane};
    for (int more = 1; more < program.lanes; ++more) lanes.push_back(fork(rank, lane, more));
    std::unordered_map<uint64_t, std::pair<size_t, size_t>> counts; // sent to and taken from a peer
    for (const Step &step : program.steps) {
      std::vector<SimulatedCommand> &commands = made.lanes[lanes[step.lane]].commands;
      int64_t size =
          program.pieces ? rt::collective::piecesOf(meeting.bytes, program.pieces, step.piece, step.count).size() : 0;
      if (step.kind == Step::Kind::send) {
        handle(rank, step.peer, size, commands);
        commands.push_back(copyTo(rank, step.peer, size, number, counts[uint64_t(step.peer)].first++));
      } else if (step.kind == Step::Kind::receive || step.kind == Step::Kind::reduce) {
        SimulatedCommand wait{CommandKind::wait};
        wait.event = message(step.peer, rank, number, counts[uint64_t(step.peer)].second++);
        commands.push_back(wait);
        handle(rank, step.peer, size, commands);
        if (step.kind == Step::Kind::reduce)
          commands.push_back({CommandKind::work, addingUp(nodes[size_t(rank)], size)});
      }
    }
    for (int more = 1; more < program.lanes; ++more) follow(lane, lanes[size_t(more)]);
  }

  // What a message takes of this rank's processor.
  void handle(int rank, int peer, int64_t size, std::vector<SimulatedCommand> &commands) const {
    if (!handlesMessages) return;
    int here = int(nodes.size());
    uint32_t other = peer / here ? cluster.one->network : nodes[size_t(peer % here)];
    if (const double ns = topology.messageNs(nodes[size_t(rank)], other, double(size)))
      commands.push_back({CommandKind::work, ns});
  }

  SimulatedCommand copyTo(int rank, int peer, int64_t size, uint32_t number, size_t count) {
    int here = int(nodes.size()), machine = peer / here;
    SimulatedCommand copy{CommandKind::copy, 0, 1, double(size), nodes[size_t(rank)], nodes[size_t(peer % here)]};
    if (machine) copy.via = int32_t(cluster.one->network);
    copy.ended = eventOf(number, rank, machine, peer % here, count);
    return copy;
  }

  // What a rank of another machine sends to this one, its like here sends as many machines further.
  uint32_t message(int from, int to, uint32_t number, size_t count) {
    int here = int(nodes.size()), machine = from / here;
    return eventOf(number, from % here, machine ? cluster.machines() - machine : 0, to, count);
  }

  uint32_t eventOf(uint32_t number, int from, int machine, int to, size_t count) {
    uint64_t key = uint64_t(number) << 44 | uint64_t(from) << 34 | uint64_t(machine) << 23 | uint64_t(to) << 13 | count;
    auto [found, isNew] = messages.try_emplace(key, made.events);
    if (isNew) ++made.events;
    return found->second;
  }

  // The lanes of one collective begin together, and the command's lane goes on behind all.
  uint32_t fork(int rank, uint32_t lane, int number) {
    auto [found, isNew] = moreLanes.try_emplace({lane, number}, uint32_t(made.lanes.size()));
    if (isNew) made.lanes.push_back({nodes[size_t(rank)], {}});
    follow(found->second, lane);
    return found->second;
  }
  void follow(uint32_t lane, uint32_t other, double ns = 0) {
    SimulatedCommand record{CommandKind::record}, wait{CommandKind::wait, ns};
    record.event = wait.event = made.events++;
    made.lanes[other].commands.push_back(record);
    made.lanes[lane].commands.push_back(wait);
  }
  void pause(uint32_t lane, double ns) { follow(lane, lane, ns); }

  double aloneNs(int rank, const Meeting &meeting, const std::vector<Program> &all) {
    auto [found, isNew] = alone.try_emplace({keyOf(meeting), meeting.bytes});
    Alone &each = found->second;
    if (isNew) {
      Simulation played = playCollective(cluster.topology, all, cluster.nodes, meeting.bytes);
      each.ns = played.ns;
      for (const LinkUse &use : played.links) each.bytes += use.bytes;
    }
    if (rank == 0) bytesBesides += each.bytes;
    return each.ns;
  }

  const Cluster &cluster;
  bool isOne, isAlone;
  const Topology &topology;
  const std::vector<uint32_t> &nodes;
  bool handlesMessages;
  std::function<double(uint32_t, int64_t)> addingUp;
  SimulatedProgram made;
  std::vector<uint32_t> firstLane, firstEvent;
  std::vector<std::vector<std::vector<Range>>> ranges; // by rank, lane and command
  std::map<Key, Programs> programs;
  std::unordered_map<uint64_t, uint32_t> messages; // events, by collective, ranks and number
  std::map<std::pair<uint32_t, int>, uint32_t> moreLanes;
  struct Alone {
    double ns = 0, bytes = 0;
  };
  std::map<std::pair<Key, int64_t>, Alone> alone;
  double bytesBesides = 0;
};

std::vector<int> Meeting::groupOf(int rank, int ranks) const {
  if (!mesh.empty()) return rt::collective::groupOf(mesh, over, rank);
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

RankLanes::RankLanes(const Cluster &cluster, std::span<const RankStep *const> steps, Played played)
    : maker(std::make_unique<Maker>(cluster, steps, played)) {}
RankLanes::~RankLanes() = default;

const Topology &RankLanes::topology() const { return maker->topology; }
const SimulatedProgram &RankLanes::program() const { return maker->made; }
int RankLanes::ranks() const { return int(maker->nodes.size()); }
double RankLanes::meanBytesBesides() const { return maker->bytesBesides / maker->cluster.machines(); }

std::vector<std::vector<Span>> RankLanes::commandsOf(int rank, const Simulation &played) const {
  std::vector<std::vector<Span>> spans;
  for (const std::vector<Range> &lane : maker->ranges[size_t(rank)]) {
    spans.emplace_back();
    for (const Range &range : lane) {
      const std::vector<Span> &commands = played.commands[range.lane];
      if (range.begin < range.end) {
        spans.back().push_back({commands[range.begin].begin, commands[range.end - 1].end});
      } else {
        double at = range.begin ? commands[range.begin - 1].end : 0;
        spans.back().push_back({at, at});
      }
    }
  }
  return spans;
}

} // namespace sprig::machine
