#include "lib/Machine/StreamShares.h"
#include <algorithm>
#include <map>

namespace sprig::machine {
namespace {

struct Edge {
  uint64_t at;
  bool isBegin;
  bool isStream; // else of the call's thread
  size_t span;
};

struct Call {
  rt::ProfileSpan *whole = nullptr;
  std::vector<Edge> edges;

  void add(const sprig_rt_profile_event &event, size_t span, bool isStream) {
    edges.push_back({event.begin_ns, true, isStream, span});
    edges.push_back({event.end_ns, false, isStream, span});
  }
};

// Of each span in a stream, in nanoseconds.
std::map<size_t, double> sharesOf(Call &call) {
  // Begins first: what takes no time ends behind its begin.
  std::sort(call.edges.begin(), call.edges.end(),
            [](const Edge &a, const Edge &b) { return a.at != b.at ? a.at < b.at : a.isBegin > b.isBegin; });
  std::map<size_t, double> shares;
  std::vector<size_t> active;
  int ofThread = 0;
  const sprig_rt_profile_event &whole = *call.whole->event;
  uint64_t last = whole.begin_ns;
  for (const Edge &edge : call.edges) {
    uint64_t at = std::clamp(edge.at, whole.begin_ns, whole.end_ns);
    if (ofThread == 0)
      for (size_t each : active) shares[each] += double(at - last) / double(active.size());
    last = at;
    if (!edge.isStream)
      ofThread += edge.isBegin ? 1 : -1;
    else if (edge.isBegin)
      active.push_back(edge.span);
    else
      std::erase(active, edge.span);
  }
  return shares;
}

} // namespace

void shareStreams(std::vector<rt::ProfileSpan> &spans, const std::function<bool(uint32_t thread)> &isStream) {
  std::map<uint64_t, Call> calls;
  for (size_t i = 0; i < spans.size(); ++i)
    if (const sprig_rt_profile_event &event = *spans[i].event; isStream(event.thread)) {
      calls[event.call].add(event, i, true);
      spans[i].selfNs = 0;
    }
  if (calls.empty()) return;
  for (size_t i = 0; i < spans.size(); ++i) {
    const sprig_rt_profile_event &event = *spans[i].event;
    auto found = calls.find(event.call);
    if (found == calls.end()) continue;
    if (event.kind == SPRIG_RT_PROFILE_CALL) found->second.whole = &spans[i];
    bool isInCall =
        spans[i].parent != rt::ProfileSpan::kNone && spans[spans[i].parent].event->kind == SPRIG_RT_PROFILE_CALL;
    if (isInCall && !isStream(event.thread)) found->second.add(event, i, false);
  }
  for (auto &[number, call] : calls) {
    if (!call.whole) continue;
    // Whole nanoseconds, as all spans have.
    uint64_t given = 0;
    for (auto [span, share] : sharesOf(call)) given += spans[span].selfNs = uint64_t(share);
    call.whole->selfNs -= std::min(call.whole->selfNs, given);
  }
}

} // namespace sprig::machine
