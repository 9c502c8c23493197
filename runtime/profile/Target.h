// What a profile can be started on: a context, which holds one of these, or the ranges of the process. Off, asking
// whether to record is one load and one branch.
//
// Who records counts itself first and then looks for the profile again; who stops takes the profile away first and then
// waits for the count. So a profile is never used after it was stopped.
#ifndef SPRIG_RUNTIME_PROFILE_TARGET_H
#define SPRIG_RUNTIME_PROFILE_TARGET_H

#include "runtime/profile/Profile.h"

namespace sprig::rt::core {

class Target {
public:
  // Contexts are numbered and take part in what is started on the whole process.
  Target();
  ~Target();
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;

  bool isRecorded() const { return profile.load(std::memory_order_relaxed) != nullptr; }
  uint32_t number() const { return ownNumber; }

private:
  friend class TargetUse;
  friend class Targets;
  struct Ranges {};
  explicit Target(Ranges) {}

  std::atomic<Profile *> profile{nullptr};
  std::atomic<uint32_t> users{0};
  uint32_t ownNumber = 0;
};

// Holds a target's profile for a scope; null when there is none by now.
class TargetUse {
public:
  explicit TargetUse(Target &target) : target(target) {
    target.users.fetch_add(1);
    held = target.profile.load();
  }
  ~TargetUse() { target.users.fetch_sub(1, std::memory_order_release); }
  TargetUse(const TargetUse &) = delete;
  TargetUse &operator=(const TargetUse &) = delete;
  Profile *profile() const { return held; }

private:
  Target &target;
  Profile *held;
};

// All targets of the process.
class Targets {
public:
  static Targets &all();
  // `target` may be null: every context, now and later, and the ranges.
  Status start(Profile &profile, Target *target);
  void stop(Profile &profile, Target *target);
  Status read(Profile &profile, sprig_rt_profile_data &data);

  Target ranges{Target::Ranges()};

private:
  friend class Target;
  static void detach(Target &target);

  std::mutex lock;
  std::vector<Target *> contexts;
  Profile *ofProcess = nullptr;
  uint32_t lastNumber = 0;
};

} // namespace sprig::rt::core

#endif
