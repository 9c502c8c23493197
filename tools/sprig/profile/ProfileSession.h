// Runs one entry of a model under the profiler: calls that are recorded, in turn with calls that are not.
// For sprig profile.
#pragma once
#include "tools/sprig/profile/ProfileRows.h"
#include "tools/sprig/profile/StepLoader.h"
#include "tools/sprig/run/Runner.h"
#include <ostream>

namespace sprig::cli {

struct SessionOptions {
  double seconds = 1;
  uint64_t calls = 0;  ///< to record; 0: as many as the seconds hold
  bool submit = false; ///< queue the calls rather than wait for each
  LoaderFlags loader;
};

/// A few recorded calls, to be drawn.
struct RecordedCalls {
  rt::Profile profile;
  sprig_rt_profile_data data;
};

class ProfileSession {
public:
  ProfileSession(const Runner &runner, PreparedCall &call, const SessionOptions &options,
                 const std::map<std::string, data::Array> &arrays);

  ProfileResult run();
  /// Records a few more calls.
  RecordedCalls recordSome();
  uint32_t entry() const { return entryIndex; }

private:
  void record(rt::Profile &profile, uint64_t count);
  void callMany(uint64_t count);
  uint64_t recordSteps(rt::Profile &profile, uint64_t count, double seconds);
  void runLoaded(rt::Profile &profile, uint64_t most, ProfileCollector &collector, std::vector<float> &plain);
  ProfileResult finish(ProfileCollector &collector, std::vector<float> plain) const;
  uint64_t eventsPerCall() const;

  const Runner &runner;
  PreparedCall &call;
  SessionOptions options;
  std::optional<StepLoader> loader;
  uint32_t entryIndex = 0;
};

/// All of the calls as a trace: lanes, threads, devices, links, the queue and the loader.
void writeRecordedTrace(std::ostream &out, const Runner &runner, const RecordedCalls &calls,
                        const ProfileResult &result, uint32_t entry);
/// The last few of them as a picture.
std::string recordedTimeline(const Runner &runner, const RecordedCalls &calls, const ProfileResult &result,
                             uint32_t entry, const std::string &model);

} // namespace sprig::cli
