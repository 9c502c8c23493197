#include "runtime/profile/Target.h"

#include <algorithm>
#include <thread>

namespace sprig::rt::core {

Targets &Targets::all() {
  // Never destroyed: contexts of static storage may outlive it.
  static Targets &targets = *new Targets;
  return targets;
}

Target::Target() {
  Targets &targets = Targets::all();
  std::lock_guard guard(targets.lock);
  ownNumber = ++targets.lastNumber;
  targets.contexts.push_back(this);
  profile.store(targets.ofProcess);
}

Target::~Target() {
  if (!ownNumber) return;
  Targets &targets = Targets::all();
  std::lock_guard guard(targets.lock);
  std::erase(targets.contexts, this);
}

void Targets::detach(Target &target) {
  target.profile.store(nullptr);
  while (target.users.load()) std::this_thread::yield();
}

Status Targets::start(Profile &profile, Target *target) {
  std::lock_guard guard(lock);
  if (target) {
    Profile *other = target->profile.load();
    if (other && other != &profile)
      return {SPRIG_RT_BUSY, concat("context ", target->number(), " is being recorded by another profile")};
    target->profile.store(&profile);
    return {};
  }
  if (ofProcess && ofProcess != &profile) return {SPRIG_RT_BUSY, "the process is being recorded by another profile"};
  for (Target *each : contexts)
    if (Profile *other = each->profile.load(); other && other != &profile)
      return {SPRIG_RT_BUSY, concat("context ", each->number(), " is being recorded by another profile")};
  ofProcess = &profile;
  ranges.profile.store(&profile);
  for (Target *each : contexts) each->profile.store(&profile);
  return {};
}

void Targets::stop(Profile &profile, Target *target) {
  std::lock_guard guard(lock);
  if (target) {
    if (target->profile.load() == &profile) detach(*target);
    return;
  }
  for (Target *each : contexts)
    if (each->profile.load() == &profile) detach(*each);
  if (ofProcess != &profile) return;
  ofProcess = nullptr;
  detach(ranges);
}

Status Targets::read(Profile &profile, sprig_rt_profile_data &data) {
  std::lock_guard guard(lock);
  std::vector<Target *> recorded;
  for (Target *each : contexts)
    if (each->profile.load() == &profile) recorded.push_back(each);
  if (ofProcess == &profile) recorded.push_back(&ranges);
  for (Target *each : recorded) detach(*each);
  Status status;
  try {
    profile.collect(data);
  } catch (const std::bad_alloc &) {
    status = {SPRIG_RT_OUT_OF_MEMORY, "no memory for the events of a profile"};
  }
  for (Target *each : recorded) each->profile.store(&profile);
  return status;
}

} // namespace sprig::rt::core
