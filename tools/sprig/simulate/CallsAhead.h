// Calls of one entry that are handed over while the one before is under way, as the runtime does on devices with memory
// of their own (runtime/exec/LaneExecutable): two at a time, each with copies of the caller's arrays of its own, so
// that the next inputs come beside this call's computation. For sprig simulate --calls.
#pragma once
#include "lib/Machine/Verdict.h"
#include "tools/sprig/simulate/PackageProgram.h"
#include <vector>

namespace sprig::cli {

/// Whether a device of the program has memory of its own.
bool takesAhead(const machine::Topology &topology, const PackageProgram &program);

/// Some calls as they were played, and from them all: their pace repeats.
class CallsAhead {
public:
  /// The caller works for `frontEndNs` before each call.
  CallsAhead(const machine::Topology &topology, const PackageProgram &program, int64_t calls, double frontEndNs);

  /// From a call's first copy or command until its results are back.
  machine::Span run(int64_t call) const;
  /// From the end of a call to that of the next one.
  double steadyNs() const { return steady; }
  /// When the pace did not repeat within what is played: the mean of the last calls' was taken.
  bool isUneven() const { return uneven; }
  /// That any call was under way in all.
  double devicesNs() const;
  /// What all calls' time goes to, until the last one's results are back.
  machine::TimeShares shares() const;
  /// While any copy goes on, and the part of it while nothing is computed.
  double copyNs() const, exposedCopyNs() const;
  /// That a lane of the program waits in all calls.
  double waitNs(size_t lane) const;

  /// Of a call that was played: its commands by lane, as in the program.
  std::vector<std::vector<machine::Span>> commandsOf(int64_t call) const;
  /// While devices and links are busy in the calls that were played.
  const machine::Simulation &simulation() const { return played; }

private:
  void play(int64_t count);
  bool findPace();
  machine::TimeShares sum(const std::vector<machine::Span> &computing, const std::vector<machine::Span> &copying,
                          const std::vector<machine::Span> &loading) const;
  /// Copies of all lanes, those from storage or the others.
  std::vector<machine::Span> copies(bool fromStorage) const;
  std::vector<machine::Span> computing() const;
  double lastEnd() const { return runs.back().end; }
  /// Calls between those that were played, in cycles, and one of them: a stretch that repeats.
  double repeated() const { return double((calls - int64_t(runs.size())) / cycle); }
  machine::Span stretch() const;

  const machine::Topology &topology;
  const PackageProgram &program;
  int64_t calls;
  double frontEndNs;
  machine::SimulatedProgram many;          ///< the calls' lanes, then the caller
  std::vector<std::vector<size_t>> begins; ///< of each call, the first command of its own in each lane
  machine::Simulation played;
  std::vector<machine::Span> runs; ///< of the calls that were played
  int64_t cycle = 1;               ///< calls after which the pace repeats
  double cycleNs = 0, steady = 0;
  bool uneven = false;
};

} // namespace sprig::cli
