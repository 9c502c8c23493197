// A package made ready on its devices for one thread at a time that runs it: its lanes, events and scratch. Made once
// by a context, so that a call is one virtual call whatever its number of commands.
#ifndef SPRIG_RUNTIME_DEVICE_EXECUTABLE_H
#define SPRIG_RUNTIME_DEVICE_EXECUTABLE_H

#include "runtime/device/RunControl.h"
#include "runtime/profile/Profile.h"

namespace sprig::rt::core {

class Binding;

// What a command is called in a profile.
inline sprig_rt_profile_kind profileKind(const Command &command) {
  static_assert(SPRIG_RT_PROFILE_COPY - SPRIG_RT_PROFILE_DISPATCH == int(CommandKind::Copy) &&
                SPRIG_RT_PROFILE_WAIT - SPRIG_RT_PROFILE_DISPATCH == int(CommandKind::Wait));
  return sprig_rt_profile_kind(SPRIG_RT_PROFILE_DISPATCH + int(command.kind));
}

class Executable {
public:
  virtual ~Executable() = default;

  // Runs the entry to its end: outputs are where the binding wants them, or undefined on failure. `control` is armed.
  virtual Status run(uint32_t entry, const Binding &binding) = 0;

  RunControl control;
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
