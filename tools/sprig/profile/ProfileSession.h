// Runs one entry of a model under the profiler: calls that are recorded, in turn with calls that are not.
// For sprig profile.
#pragma once
#include "tools/sprig/profile/ProfileRows.h"
#include "tools/sprig/run/Runner.h"
#include <ostream>

namespace sprig::cli {

struct SessionOptions {
  double seconds = 1;
  uint64_t calls = 0;  ///< to record; 0: as many as the seconds hold
  bool submit = false; ///< queue the calls rather than wait for each
};

class ProfileSession {
public:
  ProfileSession(const Runner &runner, PreparedCall &call, const SessionOptions &options);

  ProfileResult run();
  /// Records a few more calls and writes them as a trace.
  void writeTrace(std::ostream &out);
  uint32_t entry() const { return entryIndex; }

private:
  void record(rt::Profile &profile, uint64_t count);
  void callMany(uint64_t count);
  uint64_t eventsPerCall() const;

  const Runner &runner;
  PreparedCall &call;
  SessionOptions options;
  uint32_t entryIndex = 0;
};

} // namespace sprig::cli
