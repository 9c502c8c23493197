// Profiles for C++: what ran when, and what of a program's own is named by scopes. Header-only, over
// sprig/rt/profile.h.
//
//   sprig::rt::Profile profile;
//   profile.start();                                    // every context of the process
//   {
//     sprig::rt::ProfileScope scope("handle request");  // free while nothing is recorded
//     context.invoke({x}, {y});
//   }
//   for (const sprig::rt::ProfileSpan &span : sprig::rt::nest(profile.read())) ...
#ifndef SPRIG_RT_PROFILE_HPP
#define SPRIG_RT_PROFILE_HPP

#include "sprig/rt/profile.h"
#include "sprig/rt/sprig_rt.hpp"

namespace sprig::rt {

// A named range of the calling thread, from construction to destruction.
class ProfileScope {
public:
  explicit ProfileScope(const char *name) : token(sprig_rt_profile_push(name)) {}
  explicit ProfileScope(const std::string &name) : ProfileScope(name.c_str()) {}
  ~ProfileScope() {
    if (token) sprig_rt_profile_pop(token);
  }
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

private:
  uint64_t token;
};

class Profile {
public:
  // 0: as many events as the runtime thinks good.
  explicit Profile(uint32_t eventsPerThread = 0) {
    sprig_rt_profile_options options = {sizeof options, eventsPerThread};
    sprig_rt_profile *created = nullptr;
    check(sprig_rt_profile_create(&options, &created));
    handle.reset(created);
  }

  // Records every context, and scopes.
  void start() { check(sprig_rt_profile_start(raw(), nullptr)); }
  // Records one context.
  void start(const Context &context) { check(sprig_rt_profile_start(raw(), context.raw())); }
  void stop() { sprig_rt_profile_stop(raw(), nullptr); }
  void stop(const Context &context) { sprig_rt_profile_stop(raw(), context.raw()); }

  // Takes out what was recorded; the events live until the next read.
  sprig_rt_profile_data read() {
    sprig_rt_profile_data data = {};
    check(sprig_rt_profile_read(raw(), &data));
    return data;
  }
  uint32_t threadCount() const { return sprig_rt_profile_thread_count(raw()); }
  int64_t threadId(uint32_t thread) const { return sprig_rt_profile_thread_id(raw(), thread); }
  bool isStream(uint32_t thread) const { return sprig_rt_profile_stream_name(raw(), thread); }
  // "thread 4711", "cuda:0 lane 1".
  std::string threadName(uint32_t thread) const {
    const char *stream = sprig_rt_profile_stream_name(raw(), thread);
    return stream ? stream : "thread " + std::to_string(threadId(thread));
  }
  sprig_rt_profile *raw() const { return handle.get(); }

private:
  struct Release {
    void operator()(sprig_rt_profile *profile) const { sprig_rt_profile_release(profile); }
  };
  std::unique_ptr<sprig_rt_profile, Release> handle;
};

// An event and its place among those of its thread.
struct ProfileSpan {
  static constexpr size_t kNone = size_t(-1);
  const sprig_rt_profile_event *event = nullptr;
  size_t parent = kNone; // index of the span directly around it
  uint64_t totalNs = 0;  // from begin to end
  uint64_t selfNs = 0;   // without the spans directly inside: total is self plus theirs, always
};

// The spans of all threads, in the order of the events. Those of a GPU's streams lie in none: calls, on the threads
// that made them, are all time until their end.
inline std::vector<ProfileSpan> nest(const sprig_rt_profile_data &data) {
  std::vector<ProfileSpan> spans;
  spans.reserve(data.count);
  std::vector<size_t> open;
  for (uint64_t i = 0; i < data.count; ++i) {
    const sprig_rt_profile_event &event = data.events[i];
    auto isAround = [&](const sprig_rt_profile_event &outer) {
      return outer.thread == event.thread && outer.begin_ns <= event.begin_ns && event.end_ns <= outer.end_ns;
    };
    while (!open.empty() && !isAround(*spans[open.back()].event)) open.pop_back();
    ProfileSpan span{&event, open.empty() ? ProfileSpan::kNone : open.back(), event.end_ns - event.begin_ns, 0};
    span.selfNs = span.totalNs;
    if (span.parent != ProfileSpan::kNone) spans[span.parent].selfNs -= span.totalNs;
    open.push_back(i);
    spans.push_back(span);
  }
  return spans;
}

} // namespace sprig::rt

#endif
