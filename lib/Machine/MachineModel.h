// The rates that a cost model reckons with: peak FLOP/s, read rates by working set, the cost of another thread.
// For the schedule, tile choices and shares of the limit. Defaults belong to an instruction set, so that a compile
// gives the same package everywhere; what `sprig devices --calibrate` found counts only for `native`. It may decide how
// fast the code is, never what it computes: a rewrite that changes bits asks shapes alone.
#pragma once
#include "lib/Machine/Link.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sprig::machine {

struct Calibration;

/// A cache, or memory behind the last one.
struct MemoryLevel {
  int64_t bytes = 0;  ///< of one instance; 0: the machine has no such level; memory: INT64_MAX
  bool shared = true; ///< whether all cores share one instance
  double read = 0;    ///< bytes/s that one thread reads
  double readAll = 0; ///< bytes/s that all threads together read
};

struct MachineModel {
  std::string isa;       ///< x86-64-v2, x86-64-v3, x86-64-v4
  bool measured = false; ///< by calibration, else the documented defaults of the instruction set
  int threads = 1;       ///< that the rates of all threads were taken with
  double fmaFlops = 0;   ///< f32 FLOP/s of one thread
  double fmaFlopsAll = 0;
  std::array<MemoryLevel, 4> levels; ///< L1, L2, L3, memory
  double memoryLatency = 0;          ///< seconds of a dependent load that no cache has
  double handOff = 0;                ///< seconds to give work to a thread that waits for it and to learn of its end
  double commandSeconds = 10e-9;     ///< a command's own beside its work: the call of a kernel, and its first tile
  /// Of a GPU, whose lanes share all of them: a kernel keeps as many at work as it has tiles. 1: each lane has a
  /// thread.
  int64_t multiprocessors = 1;
  double branchHandOff = 0; ///< of a GPU: seconds from a lane to another, beside what commands of one lane have
  Link crossCore;           ///< to what another core has just written, as one thread reads it
  Link link;                ///< to the memory of other devices

  const MemoryLevel &l1() const { return levels[0]; }
  const MemoryLevel &l2() const { return levels[1]; }
  const MemoryLevel &l3() const { return levels[2]; }
  const MemoryLevel &memory() const { return levels[3]; }

  /// The threads that a program is made for where so many are asked for; 0: the machine's, two at least.
  int64_t threadsFor(int64_t asked) const { return asked > 0 ? asked : std::max(2, threads); }
  double flopRate(int threadCount = 1) const;
  /// The nearest level that holds the working set when the threads share it out evenly.
  const MemoryLevel &levelOf(int64_t workingSet, int threadCount = 1) const;
  double readRate(int64_t workingSet, int threadCount = 1) const;
  /// The least time that the larger of work and traffic takes, without hand-offs.
  double seconds(double flops, double bytes, int64_t workingSet, int threadCount = 1) const;
  bool lanesShareDevice() const { return multiprocessors > 1; }
  /// The part of the device that a kernel of so many tiles keeps at work, while it has one.
  double shareOf(int64_t tiles) const;
  /// From a command's end to one on another lane of the device, which then has so many bytes of it.
  double laneHandOff(double bytes) const;
  /// About what a kernel takes on one thread, mostly out of the second-level cache.
  double kernelSeconds(double flops, double bytes) const;
  /// What of so many bytes comes from another processor's own cache: what that does not hold comes from behind it on
  /// one thread, too.
  double cachedBytes(double bytes) const;
  /// About what a kernel waits for of so many bytes that another processor wrote, which it reads as it computes: as
  /// many as its first cache holds by lines, more of them as a stream.
  double fetchSeconds(double bytes) const;
  /// Lines that a kernel reads as it computes come a few at a time, and not as a stream does: measured on products of
  /// small networks, at a third of its rate.
  static constexpr double kScatteredShare = 1.0 / 3;
  /// How near kernels come to the peak rates.
  static constexpr double kKernelEfficiency = 0.66;
};

/// The documented defaults of an instruction set; of x86-64-v2 for a name that is none.
MachineModel defaultModel(std::string_view isa);
MachineModel modelOf(const Calibration &calibration);
/// For code of these instruction sets as `--cpu` names them: of `native` alone what was measured on this machine, if
/// it was, else the defaults of the least of them. Never fails.
MachineModel modelFor(std::span<const std::string> cpus);

} // namespace sprig::machine
