#include "tools/sprig/profile/ProfileSession.h"
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/CallDrawing.h"
#include <algorithm>
#include <functional>

namespace sprig::cli {
namespace {

using machine::RecordedCommand;
using machine::RecordedTime;
using machine::Span;

class Drawer {
public:
  Drawer(const Runner &runner, const RecordedCalls &calls, const ProfileResult &result, uint32_t entry)
      : calls(calls), result(result), entry(entry), places(runner),
        time(machine::recordedTime(calls.data, std::ref(places))), names(runner.package()) {}

  void writeTrace(std::ostream &out) {
    rt::TraceProcess devices{"devices", {}}, links{"links", {}}, queue{"queue", {}}, loader{"loader", {}},
        path{"critical path", {{"critical path", {}}}};
    for (const auto &[device, spans] : time.devices)
      devices.tracks.push_back(track(places.deviceName(device), "busy", spans));
    for (const auto &[ends, spans] : time.links) links.tracks.push_back(track(linkName(ends), "busy", spans));
    addQueue(queue);
    for (const auto &[thread, spans] : time.loaders)
      loader.tracks.push_back(track("loader " + threadName(thread), "load batch", spans));
    if (!time.waits.empty()) loader.tracks.push_back(track("caller", "wait for data", time.waits));
    for (const auto &[lane, commands] : time.lanes)
      for (const RecordedCommand &command : commands)
        if (isCritical(lane, command))
          path.tracks[0].spans.push_back({nameOf(lane, command), at(command.span.begin), at(command.span.end)});
    std::vector<rt::TraceProcess> others{devices, links, queue, loader, path};
    std::erase_if(others, [](const rt::TraceProcess &process) { return process.tracks.empty(); });
    rt::TraceWriter(out, [&](uint32_t) {
      return &names;
    }).write(rt::TraceWriter::threadsOf(calls.profile), calls.data, others);
  }

  std::string draw(const std::string &model) {
    constexpr size_t kCalls = 3;
    if (time.calls.empty()) return CallDrawing(model, "no call was recorded", {}).svg();
    size_t first = time.calls.size() - std::min(kCalls, time.calls.size());
    Span window{time.calls[first].begin, time.ns};
    for (const Span &wait : time.waits)
      if (wait.end <= window.begin && (first == 0 || wait.begin >= time.calls[first - 1].end))
        window.begin = wait.begin;
    size_t count = time.calls.size() - first;
    CallDrawing drawing(model,
                        "entry '" + result.entry + "'" + (result.dims.empty() ? "" : " with " + result.dims) + ", " +
                            std::to_string(count) + (count == 1 ? " call" : " calls") + " as recorded; a call takes " +
                            formatNanoseconds(result.busy.callNs) + " on average, bound by " +
                            machine::nameOf(boundBy(result.busy.shares)),
                        window);
    drawCaller(drawing);
    bool isFirst = true;
    for (const auto &[lane, commands] : time.lanes) {
      drawing.row("lane " + std::to_string(lane) + " on " + laneDevice(lane), std::exchange(isFirst, false));
      for (const RecordedCommand &command : commands)
        drawing.span(command.span, nameOf(lane, command),
                     command.kind == SPRIG_RT_DISPATCH ? Drawn::work
                     : command.kind == SPRIG_RT_COPY   ? Drawn::copy
                                                       : Drawn::wait,
                     isCritical(lane, command));
    }
    isFirst = true;
    for (const auto &[thread, spans] : time.threads)
      drawing.uses(threadName(thread), spans, Drawn::work, std::exchange(isFirst, false));
    isFirst = true;
    for (const auto &[device, spans] : time.devices)
      drawing.uses(places.deviceName(device), spans, Drawn::work, std::exchange(isFirst, false));
    isFirst = true;
    for (const auto &[ends, spans] : time.links)
      drawing.uses(linkName(ends), spans, Drawn::copy, std::exchange(isFirst, false));
    isFirst = true;
    for (const auto &[thread, spans] : time.loaders)
      drawing.uses("loader " + threadName(thread), spans, Drawn::load, std::exchange(isFirst, false));
    return drawing.svg();
  }

private:
  std::string threadName(uint32_t thread) const { return calls.profile.threadName(thread); }
  std::string linkName(std::pair<uint32_t, uint32_t> ends) const {
    return places.deviceName(ends.first) + " to " + places.deviceName(ends.second);
  }
  std::string laneDevice(uint32_t lane) const {
    sprig_rt_profile_event event = {};
    event.entry = entry;
    event.lane = lane;
    return places.deviceName(places(event).device);
  }
  std::string nameOf(uint32_t lane, const RecordedCommand &command) {
    sprig_rt_profile_event event = {};
    event.entry = command.entry;
    event.lane = lane;
    event.command = command.command;
    return names.of(event).name;
  }
  bool isCritical(uint32_t lane, const RecordedCommand &command) const {
    return command.entry == entry && command.kind <= SPRIG_RT_COPY && result.busy.path.has(lane, command.command);
  }
  uint64_t at(double ns) const { return time.origin + uint64_t(ns); }
  rt::TraceProcess::Track track(const std::string &name, const std::string &what,
                                const std::vector<Span> &spans) const {
    rt::TraceProcess::Track made{name, {}};
    for (const Span &span : spans) made.spans.push_back({what, at(span.begin), at(span.end)});
    return made;
  }

  // Calls wait together; each row of the queue has those that do not.
  std::vector<std::vector<Span>> queueRows() const {
    std::vector<std::vector<Span>> rows;
    for (const Span &span : time.queued) {
      auto free = std::find_if(rows.begin(), rows.end(), [&](auto &row) { return row.back().end <= span.begin; });
      if (free == rows.end()) free = rows.insert(rows.end(), std::vector<Span>());
      free->push_back(span);
    }
    return rows;
  }
  void addQueue(rt::TraceProcess &queue) const {
    auto rows = queueRows();
    for (size_t i = 0; i < rows.size(); ++i)
      queue.tracks.push_back(track("place " + std::to_string(i), "waits in the queue", rows[i]));
  }
  void drawCaller(CallDrawing &drawing) const {
    drawing.row("calls");
    std::vector<std::pair<Span, bool>> spans;
    for (const Span &call : time.calls) spans.push_back({call, true});
    for (const Span &wait : time.waits) spans.push_back({wait, false});
    std::sort(spans.begin(), spans.end(), [](const auto &a, const auto &b) { return a.first.begin < b.first.begin; });
    for (auto &[span, isCall] : spans)
      drawing.span(span, isCall ? "call" : "wait for data", isCall ? Drawn::call : Drawn::wait);
    auto rows = queueRows();
    for (size_t i = 0; i < rows.size(); ++i) {
      drawing.row(i ? "" : "queue");
      for (const Span &span : rows[i]) drawing.span(span, "waits in the queue", Drawn::wait);
    }
  }

  const RecordedCalls &calls;
  const ProfileResult &result;
  uint32_t entry;
  CommandPlaces places;
  RecordedTime time;
  rt::TraceNames names;
};

} // namespace

void writeRecordedTrace(std::ostream &out, const Runner &runner, const RecordedCalls &calls,
                        const ProfileResult &result, uint32_t entry) {
  Drawer(runner, calls, result, entry).writeTrace(out);
}

std::string recordedTimeline(const Runner &runner, const RecordedCalls &calls, const ProfileResult &result,
                             uint32_t entry, const std::string &model) {
  return Drawer(runner, calls, result, entry).draw(model);
}

} // namespace sprig::cli
