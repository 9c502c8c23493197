// The C ABI's functions of sprig/rt/profile.h.
#include "runtime/api/Handles.h"

#include "runtime/profile/Target.h"

#include <cstring>

using namespace sprig::rt::core;

struct sprig_rt_profile {
  explicit sprig_rt_profile(uint32_t eventsPerThread) : profile(eventsPerThread) {}
  Profile profile;
};

sprig_rt_status *sprig_rt_profile_create(const sprig_rt_profile_options *given, sprig_rt_profile **profile) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(profile, "place for the profile"));
    uint32_t events = 0;
    if (given) {
      if (given->size < sizeof *given || given->size > 4096)
        return {SPRIG_RT_INVALID_ARGUMENT,
                concat("expected options with their size set to ", sizeof *given, ", got ", given->size)};
      events = given->events_per_thread;
    }
    *profile = new sprig_rt_profile(events);
    return {};
  });
}

void sprig_rt_profile_release(sprig_rt_profile *profile) {
  if (profile) Targets::all().stop(profile->profile, nullptr);
  delete profile;
}

sprig_rt_status *sprig_rt_profile_start(sprig_rt_profile *profile, sprig_rt_context *context) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(profile, "profile"));
    return Targets::all().start(profile->profile, context ? &context->context->profileTarget() : nullptr);
  });
}

void sprig_rt_profile_stop(sprig_rt_profile *profile, sprig_rt_context *context) {
  if (profile) Targets::all().stop(profile->profile, context ? &context->context->profileTarget() : nullptr);
}

int32_t sprig_rt_profile_recording(void) { return Targets::all().ranges.isRecorded(); }

uint64_t sprig_rt_profile_push(const char *name) {
  Target &target = Targets::all().ranges;
  if (!target.isRecorded()) return 0;
  TargetUse use(target);
  try {
    if (Ring *ring = use.profile() ? use.profile()->ring() : nullptr) return ring->pushRange(name);
  } catch (const std::bad_alloc &) {
    // A range less; nothing that a program may fail for.
  }
  return 0;
}

void sprig_rt_profile_pop(uint64_t token) {
  if (token == 0) return;
  TargetUse use(Targets::all().ranges);
  if (Ring *ring = use.profile() ? use.profile()->ring() : nullptr) ring->popRange(token);
}

sprig_rt_status *sprig_rt_profile_read(sprig_rt_profile *profile, sprig_rt_profile_data *data) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(profile, "profile"));
    SPRIG_RETURN_IF_ERROR(requireHandle(data, "place for the events"));
    return Targets::all().read(profile->profile, *data);
  });
}

uint32_t sprig_rt_profile_thread_count(const sprig_rt_profile *profile) {
  return profile ? profile->profile.threadCount() : 0;
}

const char *sprig_rt_profile_stream_name(const sprig_rt_profile *profile, uint32_t thread) {
  return profile ? profile->profile.streamName(thread) : nullptr;
}

int64_t sprig_rt_profile_thread_id(const sprig_rt_profile *profile, uint32_t thread) {
  return profile ? profile->profile.threadId(thread) : -1;
}

uint32_t sprig_rt_context_number(const sprig_rt_context *context) {
  return context ? context->context->profileTarget().number() : 0;
}
