// Where the time of an imperative program goes: operations, compiled segments and functions, ranges of its own.
// For programs. Off, a range costs a load and a branch. Traces and C: sprig/rt/profile.hpp, which sees the same events.
//
//   Profile profile;
//   profile.start();
//   { ProfileRange range("epoch"); train(); }
//   profile.stop();
//   std::cout << profile.table();
#pragma once
#include "sprig/tensor.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sprig {

/// What ran under one name while a profile was on.
struct ProfileRow {
  /// "operation" (run by itself), "segment" (operations that were compiled together in the background), "function"
  /// (of compile()), "compilation" (of a function, at its first call), "copy" (between devices) or "range" (the
  /// program's own).
  std::string kind;
  std::string name; ///< "train.cpp:12: matmul (layer 'fc')", "step", ...
  int64_t calls = 0;
  double seconds = 0;     ///< over all calls
  double selfSeconds = 0; ///< without rows that ran inside of these, on the same thread
};

/// One at a time records a process; starting a second throws usage errors.
class SPRIG_API Profile {
public:
  Profile();
  ~Profile(); ///< stops
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// Waits for what was recorded before, then starts.
  void start();
  /// Waits for what was recorded meanwhile, then stops. What ran stays in rows().
  void stop();
  /// Everything since the profile was made, most self time first.
  std::vector<ProfileRow> rows() const;
  /// A text for each line that waited for values again and again, as a reading of the loss in each step does.
  std::vector<std::string> warnings() const;
  /// The rows as text, with shares of their self time in all, and the warnings.
  std::string table() const;
  /// Events that were lost because a thread had too many (65536 between start and stop).
  uint64_t dropped() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A named stretch of the calling thread, from construction to destruction. Operations are recorded here and run
/// elsewhere: a range around them holds their time where it waits for them (a reading, synchronize()).
class SPRIG_API ProfileRange {
public:
  explicit ProfileRange(const std::string &name);
  ~ProfileRange();
  ProfileRange(const ProfileRange &) = delete;
  ProfileRange &operator=(const ProfileRange &) = delete;

private:
  uint64_t token;
};

} // namespace sprig
