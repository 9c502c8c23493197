#include "runtime/profile/Profile.h"

#include <algorithm>
#include <bit>
#include <sys/syscall.h>
#include <unistd.h>

namespace sprig::rt::core {

Ring::Ring(uint32_t capacity, int64_t threadId, uint64_t firstToken, std::string streamName)
    // Written once here, so that recording meets no page for the first time.
    : events(capacity, Event{}), mask(capacity - 1), threadId(threadId), streamName(std::move(streamName)),
      lastToken(firstToken) {}

uint64_t Ring::pushRange(const char *name) {
  std::string_view text = name ? name : "";
  auto found = nameIndex.find(text);
  if (found == nameIndex.end()) {
    found = nameIndex.emplace(text, uint32_t(names.size())).first;
    names.push_back(found->first.c_str());
  }
  open.push_back({ticks(), ++lastToken, found->second});
  return lastToken;
}

void Ring::popRange(uint64_t token) {
  uint64_t end = ticks();
  auto found = std::find_if(open.rbegin(), open.rend(), [token](auto &range) { return range.token == token; });
  if (found == open.rend()) return;
  OpenRange range = *found;
  open.resize(size_t(open.rend() - found) - 1);
  add({range.begin, end, 0, 0, 0, 0, 0, 0, 0, SPRIG_RT_PROFILE_RANGE, 0, range.name});
}

static uint64_t nextProfileNumber() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

static uint32_t roundedCapacity(uint32_t events) {
  constexpr uint32_t least = 16, most = 1u << 26, usual = 65536;
  return std::bit_ceil(std::clamp(events ? events : usual, least, most));
}

constinit thread_local Profile::Cached Profile::cached;

Profile::Profile(uint32_t eventsPerThread) : number(nextProfileNumber()), capacity(roundedCapacity(eventsPerThread)) {}

Ring *Profile::findRing() {
  int64_t id = syscall(SYS_gettid);
  std::lock_guard guard(lock);
  auto found = std::find_if(rings.begin(), rings.end(), [id](auto &ring) { return ring->threadId == id; });
  Ring *ring = found == rings.end() ? makeRing(id, {}) : found->get();
  if (ring) cached = {number, ring};
  return ring;
}

Ring *Profile::makeRing(int64_t threadId, std::string streamName) {
  try {
    rings.push_back(std::make_unique<Ring>(capacity, threadId, number << 40, std::move(streamName)));
  } catch (const std::bad_alloc &) {
    unrecorded.fetch_add(1);
    return nullptr;
  }
  return rings.back().get();
}

Ring *Profile::streamRing(uint32_t context, const std::string &name) {
  std::lock_guard guard(lock);
  auto found = std::find_if(rings.begin(), rings.end(), [&](auto &ring) {
    return ring->threadId < 0 && ring->context == context && ring->streamName == name;
  });
  if (found != rings.end()) return found->get();
  Ring *ring = makeRing(-1, name);
  if (ring) ring->context = context;
  return ring;
}

uint32_t Profile::threadCount() const {
  std::lock_guard guard(lock);
  return uint32_t(rings.size());
}

const char *Profile::streamName(uint32_t thread) const {
  std::lock_guard guard(lock);
  return thread < rings.size() && rings[thread]->threadId < 0 ? rings[thread]->streamName.c_str() : nullptr;
}

int64_t Profile::threadId(uint32_t thread) const {
  std::lock_guard guard(lock);
  return thread < rings.size() ? rings[thread]->threadId : -1;
}

void Profile::collect(sprig_rt_profile_data &data) {
  clock.measure();
  std::lock_guard guard(lock);
  events.clear();
  data = {};
  data.dropped = unrecorded.exchange(0);
  for (uint32_t thread = 0; thread < rings.size(); ++thread) {
    Ring &ring = *rings[thread];
    uint64_t count = std::min<uint64_t>(ring.written, ring.events.size());
    // The ring is in the order of ends: of events that begin together, the later one is around the earlier one.
    std::vector<const Event *> order(count);
    for (uint64_t i = 0; i < count; ++i) order[i] = &ring.events[(ring.written - 1 - i) & ring.mask];
    std::vector<uint64_t> place(count);
    for (uint64_t i = 0; i < count; ++i) place[i] = i;
    std::sort(place.begin(), place.end(), [&](uint64_t left, uint64_t right) {
      return order[left]->begin != order[right]->begin ? order[left]->begin < order[right]->begin : left < right;
    });
    for (uint64_t at : place) {
      const Event &event = *order[at];
      sprig_rt_profile_event &out = events.emplace_back();
      out = {};
      out.kind = event.kind;
      out.thread = thread;
      out.begin_ns = clock.nanoseconds(event.begin);
      out.end_ns = clock.nanoseconds(event.end);
      out.call = event.call;
      out.context = event.context;
      out.entry = event.entry;
      out.lane = event.lane;
      out.command = event.command;
      out.participant = event.participant;
      out.tile_begin = event.tileBegin;
      out.tile_end = event.tileEnd;
      out.name = event.kind == SPRIG_RT_PROFILE_RANGE ? ring.names[event.name] : nullptr;
    }
    data.dropped += ring.written - count;
    if (ring.lostUntil) data.complete_since_ns = std::max(data.complete_since_ns, clock.nanoseconds(ring.lostUntil));
    ring.written = 0;
    ring.lostUntil = 0;
  }
  data.events = events.data();
  data.count = events.size();
}

} // namespace sprig::rt::core
