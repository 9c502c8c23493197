// A package made ready on its devices for one thread at a time that runs it: its lanes, events and scratch. Made once
// by a context, so that a call is one virtual call whatever its number of commands.
#ifndef SPRIG_RUNTIME_DEVICE_EXECUTABLE_H
#define SPRIG_RUNTIME_DEVICE_EXECUTABLE_H

#include "runtime/comm/RankGroup.h"
#include "runtime/device/RunControl.h"
#include "runtime/profile/Profile.h"

#include <chrono>

namespace sprig::rt::core {

class Binding;

// What a command is called in a profile.
inline sprig_rt_profile_kind profileKind(const Entry &entry, const Command &command) {
  static_assert(SPRIG_RT_PROFILE_COPY - SPRIG_RT_PROFILE_DISPATCH == int(CommandKind::Copy) &&
                SPRIG_RT_PROFILE_WAIT - SPRIG_RT_PROFILE_DISPATCH == int(CommandKind::Wait));
  if (command.kind == CommandKind::Collective)
    return sprig_rt_profile_kind(SPRIG_RT_PROFILE_ALL_REDUCE + int(entry.collectives[command.collective].kind));
  return sprig_rt_profile_kind(SPRIG_RT_PROFILE_DISPATCH + int(command.kind));
}

class Executable {
public:
  virtual ~Executable() = default;

  // Runs the entry to its end: outputs are where the binding wants them, or undefined on failure. `control` is armed.
  virtual Status run(uint32_t entry, const Binding &binding) = 0;

  // Whether its commands may meet the ranks of `group`.
  virtual bool meetsRanks() const { return false; }

  // Two runs may be under way at once where devices have memory of their own: `turn` 0 and 1, in turn. Each has a
  // binding and a control of its own; they run one after the other but for the copies of the caller's arrays.
  virtual bool takesAhead() const { return false; }
  // What a run waits for that is handed over before the one before it has ended.
  enum class Behind {
    all,        // that one's end: who hands it over has seen it, or its arrays are in use until then
    beforeLast, // the end of the run two before, which was seen
    memory,     // what it finds in use: nothing was seen
  };
  // Enqueues the run of this turn and entry; its control is armed. Fails before anything is enqueued.
  virtual Status start(uint32_t, uint32_t, const Binding &, Behind) {
    return {SPRIG_RT_INTERNAL, "runs of these devices are not started ahead"};
  }
  // Of runs that were started, in their order: whether it has ended within the limit.
  virtual bool hasEnded(uint32_t, std::chrono::nanoseconds) { return true; }
  // Waits for it.
  virtual Status finish(uint32_t) { return {}; }

  // Enqueues a run into a stream of the caller's that the entry's device has checked, behind what is in there and
  // behind all earlier ones; nothing is waited for. No other run is under way, and no array is on the host.
  virtual Status enqueueInStream(uint32_t, const Binding &, void *) {
    return {SPRIG_RT_UNSUPPORTED, "a package for devices of several kinds runs in no stream of the caller's"};
  }
  // Waits for these. What the first that failed failed with.
  virtual Status settle() { return {}; }

  std::shared_ptr<comm::RankGroup> group; // whose rank the runs are; null: none
  // By entry and collective, of those that are of a part of the ranks; null: of all. Entries without any have no list.
  std::vector<std::vector<comm::RankGroup *>> parts;

  RunControl control;
  RunControl second; // of turn 1
  RunControl &controlOf(uint32_t turn) { return turn ? second : control; }
  void cancelAll() {
    control.cancel();
    second.cancel();
  }
  // Events of the runs up to the next call go there; null: nowhere. Not during a run.
  void record(Recording *recording) { recorded = recording; }
  Recording *recording() const { return recorded; }
  // What the last run took by its devices' own clocks; 0 where they keep none.
  double simulatedSeconds() const { return simulated; }

protected:
  Recording *recorded = nullptr; // helpers see it once they got work
  double simulated = 0;
};

} // namespace sprig::rt::core

#endif
