// What a profiled run comes to: a row for each command and for each kind of overhead, with times that add up.
// For sprig profile: Profile.cpp fills it from the runtime's events, the reports read it.
#pragma once
#include "sprig/rt/profile.hpp"
#include "tools/sprig/profile/BusyTime.h"
#include "tools/sprig/run/Runner.h"
#include "lib/Machine/DotRates.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sprig::cli {

/// An operation inside of a dispatch, and the share of the dispatch's time that the cost model gives it.
struct ProfilePart {
  std::string name, kind, shape, source;
  uint64_t flops = 0, bytes = 0;
  uint32_t call = 0;
  double share = 0;
  std::string factors = {}; ///< what a product multiplies, where its sums are wider ("ui8")
};

struct ProfileRow {
  std::string name;
  std::string kind; ///< "dispatch", "copy", "upload", "download", "overhead"
  std::string device;
  int lane = -1; ///< of commands
  uint32_t entry = 0, command = 0;
  uint64_t flops = 0, bytes = 0; ///< of one execution
  double limitNs = 0;            ///< the least time of one execution at measured rates; 0: no work
  std::vector<ProfilePart> parts;

  uint64_t calls = 0;
  double selfNs = 0,
         totalNs = 0;         ///< over all calls; of what lay beside others in streams self is its share of the time
  double threadNs = 0;        ///< in kernels, over all threads
  bool wasCut = false;        ///< into slices that threads took
  bool isCritical = false;    ///< on the critical path
  std::vector<float> samples; ///< ns of single executions, the first many of them

  double meanNs() const { return calls ? totalNs / double(calls) : 0; }
  double minNs() const;
  double medianNs() const;
};

/// How much of the wall time of the profiled calls went where; the rows' self times sum up to it.
struct ProfileResult {
  std::string entry;
  std::string dims;   ///< "batch=8", or empty
  std::string loader; ///< where batches came from, in words; empty: the same arrays each time
  int threads = 1;
  uint64_t calls = 0;
  double wallNs = 0;
  std::vector<float> callSamples;      ///< ns of whole calls
  std::vector<float> plainQuartilesNs; ///< of a call while nothing is recorded
  std::vector<float> submitSamples;    ///< ns that a submission takes the one who makes it
  std::vector<float> queueSamples;     ///< ns between a submission and its run
  uint64_t dropped = 0;
  std::vector<ProfileRow> rows;
  BusyTime busy;
  bool hasParts = true; ///< whether the package says which operations its dispatches hold
};

/// Adds the runtime's events to rows, one batch after the other.
class ProfileCollector {
public:
  explicit ProfileCollector(const Runner &runner) : runner(runner), places(runner) {}
  void add(const rt::Profile &profile, const sprig_rt_profile_data &data);
  /// Rows in the order of the program, then the overhead.
  ProfileResult take();

private:
  struct Key {
    uint32_t entry, lane, command;
    auto operator<=>(const Key &) const = default;
  };
  ProfileRow &commandRow(const sprig_rt_profile_event &event);
  ProfileRow &transferRow(const sprig_rt_profile_event &event);
  ProfileRow &overheadRow(const std::string &name);
  static void addTo(ProfileRow &row, const rt::ProfileSpan &span);

  void findPath();

  const Runner &runner;
  CommandPlaces places;
  ProfileResult result;
  std::map<Key, ProfileRow> commands;
  std::map<std::tuple<int32_t, Key>, ProfileRow> transfers;
  std::map<std::string, ProfileRow> overhead;
};

/// The median of samples; 0 without any.
double medianOf(std::vector<float> samples);

/// Sets limitNs of the rows (CommandLimits.h): a command that was cut has all threads, another one has one. Sets the
/// parts' shares by the same rule; they are a model, not a measurement.
void setLimits(ProfileResult &result, const Runner &runner, const machine::ProductRates &rates);

} // namespace sprig::cli
