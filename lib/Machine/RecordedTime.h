// Who was busy when in a stretch of recorded calls: devices, threads, links, the loader, the queue.
// For `sprig profile`: reads the runtime's events, and knows packages only by what it is told of their commands.
#pragma once
#include "lib/Machine/Verdict.h"
#include "sprig/rt/profile.h"
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace sprig::machine {

/// Whether an event of a profile is of a command that ranks meet in.
inline bool isMeeting(int32_t kind) { return kind >= SPRIG_RT_PROFILE_ALL_REDUCE && kind < SPRIG_RT_PROFILE_PART; }
/// Of any command of a lane, as the thread that drives the lane sees it.
inline bool isCommand(int32_t kind) {
  return (kind >= SPRIG_RT_PROFILE_DISPATCH && kind <= SPRIG_RT_PROFILE_WAIT) || isMeeting(kind) ||
         kind == SPRIG_RT_PROFILE_PART;
}

/// In a device's place: the caller's memory.
inline constexpr uint32_t kHost = UINT32_MAX;

/// Where a command runs; of a copy also between which devices.
struct CommandPlace {
  uint32_t device = 0;
  uint32_t from = 0, to = 0;
};

/// A command of a lane; a wait lasts from the end of the command in front of it.
struct RecordedCommand {
  Span span;
  uint32_t entry = 0, command = 0;
  int32_t kind = 0; ///< sprig_rt_command_kind
};

/// One call, with the wait for the data that it takes.
struct RecordedStep {
  double waitNs = 0, callNs = 0;
};

/// Times are nanoseconds from `origin`, the begin of the first call or of the wait in front of it.
struct RecordedTime {
  uint64_t origin = 0;
  double ns = 0; ///< to the end of the last call
  std::map<uint32_t, std::vector<RecordedCommand>> lanes;
  std::map<uint32_t, std::vector<Span>> devices; ///< while a kernel runs there, apart from each other
  std::map<uint32_t, double> deviceThreadNs;     ///< in kernels, over all threads
  std::map<uint32_t, std::vector<Span>> threads; ///< while one is in a kernel, apart
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Span>> links; ///< from, to: while a copy goes on, apart
  std::vector<Span> meetings; ///< in collectives of ranks, waiting for others included
  std::vector<Span> calls;
  std::vector<Span> arrays;                      ///< the runtime looks at and copies the caller's arrays
  std::vector<Span> waits;                       ///< for data, on the thread that calls
  std::vector<Span> queued;                      ///< calls that were submitted and have not begun
  std::map<uint32_t, std::vector<Span>> loaders; ///< threads, while they load batches
  std::vector<RecordedStep> steps;

  TimeShares shares() const;
};

/// The names of the loader's ranges (lib/Loader).
inline constexpr const char *kWaitRange = "wait for data";
inline constexpr const char *kLoadRange = "load batch";

/// Of what is complete in `data`. `placeOf` is asked about dispatches, copies (the caller's among them) and slices
/// alone.
RecordedTime recordedTime(const sprig_rt_profile_data &data,
                          const std::function<CommandPlace(const sprig_rt_profile_event &)> &placeOf);

} // namespace sprig::machine
