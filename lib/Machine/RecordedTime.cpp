#include "lib/Machine/RecordedTime.h"
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace sprig::machine {
namespace {

sprig_rt_command_kind commandKindOf(int32_t profileKind) {
  if (profileKind >= SPRIG_RT_PROFILE_ALL_REDUCE)
    return sprig_rt_command_kind(profileKind - SPRIG_RT_PROFILE_ALL_REDUCE + SPRIG_RT_ALL_REDUCE);
  return sprig_rt_command_kind(profileKind - SPRIG_RT_PROFILE_DISPATCH);
}

using Event = sprig_rt_profile_event;

bool isRange(const Event &event, const char *name) {
  return event.kind == SPRIG_RT_PROFILE_RANGE && event.name && std::strcmp(event.name, name) == 0;
}

bool isCopy(const Event &event) {
  return event.kind == SPRIG_RT_PROFILE_COPY || event.kind == SPRIG_RT_PROFILE_UPLOAD ||
         event.kind == SPRIG_RT_PROFILE_DOWNLOAD;
}

// A dispatch, over all calls.
auto dispatchOf(const Event &event) { return std::tuple(event.call, event.lane, event.command); }

class Reader {
public:
  Reader(const sprig_rt_profile_data &data, const std::function<CommandPlace(const Event &)> &placeOf)
      : data(data), placeOf(placeOf) {}

  RecordedTime read() {
    if (!findWhole()) return {};
    for (uint64_t i = 0; i < data.count; ++i)
      if (isComplete(data.events[i])) add(data.events[i]);
    for (auto *spans : {&time.devices, &time.threads})
      for (auto &[key, list] : *spans) list = apart(std::move(list));
    for (auto &[key, list] : time.links) list = apart(std::move(list));
    std::sort(time.calls.begin(), time.calls.end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
    waitsInLanes();
    return std::move(time);
  }

private:
  // Those of a call that lost some would say that nothing went on where it did.
  bool isComplete(const Event &event) const { return event.begin_ns >= data.complete_since_ns; }

  bool findWhole() {
    uint64_t begin = UINT64_MAX, end = 0;
    bool any = false;
    for (uint64_t i = 0; i < data.count; ++i) {
      const Event &event = data.events[i];
      if (!isComplete(event)) continue;
      bool isCall = event.kind == SPRIG_RT_PROFILE_CALL;
      any |= isCall;
      if (isCall || isRange(event, kWaitRange)) begin = std::min(begin, event.begin_ns);
      if (isCall) end = std::max(end, event.end_ns);
      if (event.kind == SPRIG_RT_PROFILE_SLICE) wasCut.insert(dispatchOf(event));
      if (event.kind == SPRIG_RT_PROFILE_SUBMIT) submitted[event.call] = event.end_ns;
    }
    if (!any) return false;
    time.origin = begin;
    time.ns = double(end - begin);
    return true;
  }

  double at(uint64_t ns) const { return ns < time.origin ? 0 : double(ns - time.origin); }

  void add(const Event &event) {
    Span span{at(event.begin_ns), at(event.end_ns)};
    if (isCommand(event.kind))
      time.lanes[event.lane].push_back({span, event.entry, event.command, commandKindOf(event.kind)});
    if (isMeeting(event.kind)) time.meetings.push_back(span);
    switch (event.kind) {
    case SPRIG_RT_PROFILE_CALL:
      time.calls.push_back(span);
      time.steps.push_back({std::exchange(waited[event.thread], 0), span.length()});
      if (auto found = submitted.find(event.call); found != submitted.end() && at(found->second) < span.begin)
        time.queued.push_back({at(found->second), span.begin});
      return;
    case SPRIG_RT_PROFILE_BIND:
    case SPRIG_RT_PROFILE_FINISH: time.arrays.push_back(span); return;
    case SPRIG_RT_PROFILE_RANGE:
      if (isRange(event, kWaitRange)) {
        time.waits.push_back(span);
        waited[event.thread] += span.length();
      } else if (isRange(event, kLoadRange)) {
        time.loaders[event.thread].push_back(span);
      }
      return;
    default: break;
    }
    if (isCopy(event)) {
      CommandPlace place = placeOf(event);
      if (place.from != place.to)
        time.links[{place.from, place.to}].push_back(span);
      else
        compute(event, place, span);
    } else if (event.kind == SPRIG_RT_PROFILE_SLICE ||
               (event.kind == SPRIG_RT_PROFILE_DISPATCH && !wasCut.count(dispatchOf(event)))) {
      compute(event, placeOf(event), span);
    }
  }

  // A copy within a device's memory is work for that device, as in the simulator.
  void compute(const Event &event, const CommandPlace &place, const Span &span) {
    time.devices[place.device].push_back(span);
    time.deviceThreadNs[place.device] += span.length();
    time.threads[event.thread].push_back(span);
  }

  // A lane that would wait does something else on a thread meanwhile, so the events of its waits have no length.
  void waitsInLanes() {
    for (auto &[lane, commands] : time.lanes) {
      std::stable_sort(commands.begin(), commands.end(),
                       [](const auto &a, const auto &b) { return a.span.begin < b.span.begin; });
      size_t call = 0;
      for (size_t i = 0; i < commands.size(); ++i) {
        Span &span = commands[i].span;
        while (call + 1 < time.calls.size() && time.calls[call + 1].begin <= span.begin) ++call;
        if (commands[i].kind != SPRIG_RT_WAIT) continue;
        double since = time.calls[call].begin <= span.begin ? time.calls[call].begin : span.begin;
        span.begin = std::min(span.begin, i ? std::max(since, commands[i - 1].span.end) : since);
      }
    }
  }

  const sprig_rt_profile_data &data;
  const std::function<CommandPlace(const Event &)> &placeOf;
  RecordedTime time;
  std::set<std::tuple<uint64_t, uint32_t, uint32_t>> wasCut;
  std::map<uint64_t, uint64_t> submitted; // ends of submissions, by call
  std::map<uint32_t, double> waited;      // by threads, since their last call
};

} // namespace

TimeShares RecordedTime::shares() const {
  std::vector<Span> computing, copying = arrays;
  for (const auto &[device, spans] : devices) computing.insert(computing.end(), spans.begin(), spans.end());
  for (const auto &[link, spans] : links) copying.insert(copying.end(), spans.begin(), spans.end());
  return timeShares({0, ns}, std::move(computing), std::move(copying), waits, meetings);
}

RecordedTime recordedTime(const sprig_rt_profile_data &data,
                          const std::function<CommandPlace(const sprig_rt_profile_event &)> &placeOf) {
  return Reader(data, placeOf).read();
}

} // namespace sprig::machine
