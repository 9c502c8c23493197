// Steps of ranks as lanes for the simulator: each rank's own commands, and where ranks meet the messages of the
// collective's program (runtime/collective), over the links of a cluster.
// For simulate and experiments. Every rank meets the others at the same places in the same order, on whichever lane.
#pragma once
#include "lib/Machine/Clusters.h"
#include "lib/Machine/Simulator.h"
#include "runtime/collective/Collective.h"
#include <memory>
#include <span>

namespace sprig::machine {

/// Buffers that go around together.
struct Meeting {
  rt::collective::Kind kind = rt::collective::Kind::allReduce;
  rt::collective::Algorithm algorithm = rt::collective::Algorithm::ring;
  int64_t bytes = 0;
  int root = 0;
  /// Of a part of the ranks, which are numbered on a mesh of axes of these sizes: those that differ along some of them
  /// alone. Without sizes of all ranks.
  std::vector<int64_t> mesh = {};
  std::vector<uint32_t> over = {};

  /// Which of so many ranks meet there, for one of them.
  std::vector<int> groupOf(int rank, int ranks) const;
};

/// What one rank does in a step.
struct RankStep {
  struct Command {
    SimulatedCommand command;           ///< of its own; where it meets the others none
    std::vector<Meeting> meetings = {}; ///< one after the other, all on the command's lane
  };
  std::vector<std::vector<Command>> lanes;
  uint32_t events = 0;
};

enum class Played {
  all,   ///< every rank
  one,   ///< one machine, for all of those that are alike
  alone, ///< every rank, and no rank waits for another: what steps are without collectives
};

/// The ranks' lanes together; one for each rank has them.
class RankLanes {
public:
  /// Steps by rank; where one stands for all, of the ranks of a machine, or one for all of them. Throws usage errors
  /// where an algorithm is none.
  RankLanes(const Cluster &cluster, std::span<const RankStep *const> steps, Played played);
  ~RankLanes();

  const Topology &topology() const;
  const SimulatedProgram &program() const;
  /// Ranks that were played.
  int ranks() const;

  /// Of a rank's commands while they were played: by lane and command of its step.
  std::vector<std::vector<Span>> commandsOf(int rank, const Simulation &played) const;

  /// Where one stands for all, time of collectives in which machines are not alike (trees, stars) comes from playing
  /// all ranks of each by itself, and links are those of these: bytes that they carry, of a machine on average.
  double meanBytesBesides() const;

private:
  struct Maker;
  std::unique_ptr<Maker> maker;
};

} // namespace sprig::machine
