// Ranges of the runtime's recorder around what the engine runs, named only where something records.
// For the tasks of the queue. Names start with their kind (sprig/profile.h) and a tab.
#pragma once
#include "sprig/rt/profile.h"
#include <string>

namespace sprig::frontend {

/// The kind of a reading that waits for its value, on the thread that reads.
inline constexpr const char *kWaitKind = "wait";
/// What such waits are called that are none for a value that is read: for a copy to another device, for all that
/// is queued, and for an event.
inline constexpr const char *kCopyWait = "to", *kQueueWait = "synchronize", *kEventWait = "Event";

class ProfileSpan {
public:
  /// `name` makes the text, and is called only while ranges are recorded.
  template <typename Name> ProfileSpan(const char *kind, Name name) {
    if (sprig_rt_profile_recording()) [[unlikely]]
      token = sprig_rt_profile_push((kind + ('\t' + name())).c_str());
  }
  ~ProfileSpan() {
    if (token) [[unlikely]]
      sprig_rt_profile_pop(token);
  }
  ProfileSpan(const ProfileSpan &) = delete;
  ProfileSpan &operator=(const ProfileSpan &) = delete;

private:
  uint64_t token = 0;
};

} // namespace sprig::frontend
