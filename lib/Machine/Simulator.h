// Plays a program on a topology, command by command: a discrete-event simulation. docs/simulator.md says what is
// modelled and what is not.
// For `sprig simulate`. Knows neither packages nor IR. Deterministic: lanes move in their order, and times are
// nanoseconds in floating point, in which whole numbers add up exactly, so a machine that shares nothing is exact.
#pragma once
#include "lib/Machine/Topology.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace sprig::machine {

struct SimulatedCommand {
  enum class Kind : uint8_t { work, copy, record, wait };
  Kind kind = Kind::work;
  double ns = 0;             ///< work: alone on its device, with as many threads as it takes; wait: until it
                             ///< knows of what was recorded
  int threads = 1;           ///< work: of the device, which it keeps busy
  double bytes = 0;          ///< copy
  uint32_t from = 0, to = 0; ///< copy: nodes
  uint32_t event = 0;        ///< record, wait; each is recorded once
  /// Work, copy: recorded when it has ended, as by a record right behind it.
  std::optional<uint32_t> ended = {};
  /// Copy: a node that it goes through, -1: the way is free. Then both ends may be the same node: of many machines that
  /// do the same at once one stands for all, whose copies to the others leave and come back (RankSteps.h).
  int32_t via = -1;
};

struct SimulatedLane {
  uint32_t device = 0; ///< a node
  std::vector<SimulatedCommand> commands;
  bool ofArrays = false; ///< copies the caller's arrays: has no number that anybody knows
};

struct SimulatedProgram {
  std::vector<SimulatedLane> lanes;
  uint32_t events = 0;
  bool followsItself = false; ///< links have nothing left of their bursts at first: the run before has taken them
};

struct Span {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

/// One direction of a link, or both of one that is half duplex.
struct LinkUse {
  uint32_t link = 0;
  bool forward = true;
  uint64_t copies = 0;
  double bytes = 0;
  std::vector<Span> busy; ///< while bytes flow, in order, apart from each other
};

struct Simulation {
  double ns = 0; ///< when the last command ended
  /// Of each command of each lane: from when its lane came to it until it was over.
  std::vector<std::vector<Span>> commands;
  std::vector<std::vector<Span>> deviceBusy; ///< of each node: while work is done there, apart from each other
  std::vector<LinkUse> links;                ///< those that were used, in the order of the topology
  double copyNs = 0;                         ///< while any copy goes on
  double exposedCopyNs = 0;                  ///< the part of it while nothing is computed anywhere
};

/// Throws badInput where a copy has no way to go, or a lane waits for what no other records before it.
Simulation simulate(const Topology &topology, const SimulatedProgram &program);

/// The time that spans take in all, each moment once.
double covered(const std::vector<Span> &apart);
/// Spans in any order as spans in order that do not touch.
std::vector<Span> apart(std::vector<Span> spans);

} // namespace sprig::machine
