// What an all-reduce takes by each algorithm, and its halves, a reduce-scatter and an all-gather: messages of latency
// and bytes over a rate, steps one after the other, in closed form (docs/distributed.md has the table). For the
// schedule, which weighs buckets, for simulate, and for bench, which holds it against what was measured. True where
// every rank has a link of its own in each direction: what shares links is played (Collectives.h).
#pragma once
#include "lib/Machine/Link.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Machine/Simulator.h"
#include "runtime/collective/Collective.h"
#include <functional>
#include <span>

namespace sprig::machine {

/// What ranks meet over.
struct RankLink {
  Link message;                 ///< from one rank to another
  double addBytesPerSecond = 0; ///< of one operand, as sums are made; 0: it takes no time
};

/// Of one all-reduce of so many bytes. `hierarchy` and `rings` depend on where ranks are: as a ring.
double allReduceSeconds(const RankLink &link, rt::collective::Algorithm algorithm, int ranks, double bytes);
/// By the algorithm that is taken where none is asked for.
double allReduceSeconds(const RankLink &link, int ranks, double bytes);

/// What all-reduces of ranks were found to take: seconds of few bytes, which go by the tree, and bytes/s beyond, of
/// many, which go around the ring.
struct AllReduceRate {
  double latency = 0, bytesPerSecond = 0;
};
/// Of a collective whose wholes have so many bytes. A reduce-scatter and an all-gather are half of the ring; all others
/// are taken for all-reduces.
double collectiveSeconds(const AllReduceRate &rate, rt::collective::Kind kind, int ranks, double bytes);

/// The bytes from which the ring takes less than the tree; 0: always.
double ringBeatsTreeFrom(const RankLink &link, int ranks);
/// The most bytes that the fixed table gives to the tree.
int64_t tableGivesTreeUpTo(int ranks);

/// Ranks that are threads of one process, which read what another core has written in place.
RankLink betweenThreads(const MachineModel &model);
/// Processes of one machine, over TCP; adding up is next to nothing there.
RankLink betweenProcesses();
/// Ranks on nodes of a topology: the slowest way from one to the next around. Adding up is three times its bytes at the
/// memory's rate.
RankLink betweenNodes(const Topology &topology, std::span<const uint32_t> nodes);

/// What adding up so many bytes of one operand takes on a node, in nanoseconds.
std::function<double(uint32_t node, int64_t bytes)> addingUpOn(const Topology &topology);

/// The programs of ranks on these nodes, one each, played without anything else.
Simulation playCollective(const Topology &topology, std::span<const rt::collective::Program> programs,
                          std::span<const uint32_t> nodes, int64_t bytes);

/// Latency and rate, by least squares of the relative error, of what was measured: (steps, bytes on the way, seconds).
struct MeasuredSteps {
  double steps = 0, bytes = 0, seconds = 0;
};
Link linkFrom(std::span<const MeasuredSteps> measured);
/// Messages after each other, and the bytes on the way of all of them: of an all-reduce, for which all but its halves
/// are taken.
MeasuredSteps stepsOf(rt::collective::Kind kind, rt::collective::Algorithm algorithm, int ranks, double bytes);

} // namespace sprig::machine
