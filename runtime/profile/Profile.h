// Events of runs, kept in one ring for each thread that records. See sprig/rt/profile.h for what an event means.
//
// A ring has one writer, its thread, or who runs what has been in a device's stream, and takes no lock. Reading happens
// only while nobody records: who records is counted by the targets (Target.h), and reading detaches those first.
#ifndef SPRIG_RUNTIME_PROFILE_PROFILE_H
#define SPRIG_RUNTIME_PROFILE_PROFILE_H

#include "runtime/base/Status.h"
#include "runtime/profile/Clock.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sprig::rt::core {

struct Event {
  uint64_t begin, end; // ticks
  uint64_t call;
  int64_t tileBegin, tileEnd;
  uint32_t context;
  uint32_t entry;
  uint32_t command;
  uint32_t lane;
  uint16_t kind; // sprig_rt_profile_kind
  uint16_t participant;
  uint32_t name; // of ranges: index into Ring.names
};
static_assert(sizeof(Event) <= 72);

class Ring {
public:
  Ring(uint32_t capacity, int64_t threadId, uint64_t firstToken, std::string streamName = {});

  void add(const Event &event) {
    Event &slot = events[written & mask];
    if (written > mask) [[unlikely]]
      lostUntil = slot.end;
    slot = event;
    ++written;
  }
  uint64_t pushRange(const char *name);
  void popRange(uint64_t token);

private:
  friend class Profile;
  struct OpenRange {
    uint64_t begin;
    uint64_t token;
    uint32_t name;
  };
  std::vector<Event> events;
  uint64_t mask;
  uint64_t written = 0;
  uint64_t lostUntil = 0; // end of the last event that was overwritten
  int64_t threadId;       // -1: of a stream
  uint32_t context = 0;   // whose stream it is
  std::string streamName;
  uint64_t lastToken;
  std::map<std::string, uint32_t, std::less<>> nameIndex;
  std::vector<const char *> names; // keys of nameIndex
  std::vector<OpenRange> open;
};

class Profile {
public:
  explicit Profile(uint32_t eventsPerThread);

  // This thread's ring, made at its first event; null without memory for it, which counts as a dropped event.
  Ring *ring() {
    if (cached.profile == number) [[likely]]
      return cached.ring;
    return findRing();
  }
  // That of a stream, which a context has by a name; takes a lock. Null as above.
  Ring *streamRing(uint32_t context, const std::string &name);
  double ticksPerNs() const { return clock.ticksPerNs(); }
  uint64_t newCall() { return calls.fetch_add(1, std::memory_order_relaxed) + 1; }

  // For the reader, while nobody records.
  void collect(sprig_rt_profile_data &data);
  uint32_t threadCount() const;
  int64_t threadId(uint32_t thread) const;
  const char *streamName(uint32_t thread) const;

private:
  struct Cached {
    uint64_t profile = 0;
    Ring *ring = nullptr;
  };
  Ring *findRing();
  Ring *makeRing(int64_t threadId, std::string streamName);

  static constinit thread_local Cached cached;
  const uint64_t number; // of the process's profiles, so that a dead one's rings are never taken for this one's
  const uint32_t capacity;
  ClockScale clock;
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> unrecorded{0};
  mutable std::mutex lock;
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<sprig_rt_profile_event> events; // of the last read
};

// A stretch of a device's stream, in ticks.
struct StreamSpan {
  sprig_rt_profile_kind kind;
  uint32_t lane, command;
  uint64_t begin, end;
};

// What the events of one call share; a run adds to it.
struct Recording {
  Profile *profile = nullptr;
  uint64_t call = 0;
  uint32_t context = 0;
  uint32_t entry = 0;

  void add(sprig_rt_profile_kind kind, uint64_t begin, uint32_t lane = 0, uint32_t command = 0,
           uint32_t participant = 0, int64_t tileBegin = 0, int64_t tileEnd = 0) const {
    uint64_t end = ticks();
    if (Ring *ring = profile->ring())
      ring->add({begin, end, call, tileBegin, tileEnd, context, entry, command, lane, uint16_t(kind),
                 uint16_t(participant), 0});
  }
  // In their order, once they have ended.
  void addStream(const std::string &name, const std::vector<StreamSpan> &spans) const {
    Ring *ring = spans.empty() ? nullptr : profile->streamRing(context, name);
    if (!ring) return;
    for (const StreamSpan &span : spans)
      ring->add({span.begin, span.end, call, 0, 0, context, entry, span.command, span.lane, uint16_t(span.kind), 0, 0});
  }
};

} // namespace sprig::rt::core

#endif
