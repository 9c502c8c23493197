// Simulated calls, the first few of them, as a trace and as a picture.
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/CallDrawing.h"
#include "tools/sprig/simulate/SimulateReport.h"
#include <algorithm>
#include <utility>

namespace sprig::cli {
namespace {

using machine::Span;
using machine::Topology;

// Far more than a trace can show.

// The time of the calls that are drawn; what those behind them do in it is drawn, too.
Span drawnOf(const SimulatedEntry &entry) {
  const SimulatedCalls::Call &last = entry.calls.first.back();
  return {0, last.read ? last.read->end : last.spans.run.end};
}

rt::TraceProcess::Track trackOf(const std::string &name, const std::string &what, const std::vector<Span> &spans,
                                const Span &window) {
  rt::TraceProcess::Track track{name, {}};
  for (const Span &span : spans)
    if (span.begin < window.end)
      track.spans.push_back({what, wholeNanoseconds(span.begin), wholeNanoseconds(std::min(span.end, window.end))});
  return track;
}

} // namespace

void writeSimulatedTrace(std::ostream &out, const Runner &runner, const Topology &topology,
                         const SimulatedEntry &entry) {
  const PackageProgram &program = entry.program;
  std::vector<sprig_rt_profile_event> events;
  std::vector<rt::TraceThread> threads;
  uint64_t number = 0; // of the call
  auto add = [&](int32_t kind, uint32_t thread, const Span &span) -> sprig_rt_profile_event & {
    sprig_rt_profile_event &event = events.emplace_back();
    event = {};
    event.kind = kind;
    event.thread = thread;
    event.begin_ns = wholeNanoseconds(span.begin);
    event.end_ns = wholeNanoseconds(span.end);
    event.entry = entry.index;
    event.context = 1;
    event.call = number;
    return event;
  };
  // A call that is submitted is run by the queue's thread.
  bool isQueued = entry.calls.plan.count > 1 && !entry.calls.plan.readsEach;
  threads.push_back({"caller"});
  if (isQueued) threads.push_back({"queue"});
  auto runs = uint32_t(threads.size() - 1), firstLane = uint32_t(threads.size());
  for (uint32_t lane = 0; lane < program.lanes.size(); ++lane)
    threads.push_back({program.lanes[lane] + " on " + topology.nodes[program.program.lanes[lane].device].name});
  for (const SimulatedCalls::Call &call : entry.calls.first) {
    ++number;
    if (isQueued)
      add(SPRIG_RT_PROFILE_SUBMIT, 0, call.spans.issue);
    else if (call.spans.issue.length() > 0)
      add(SPRIG_RT_PROFILE_RANGE, 0, call.spans.issue).name = "front-end";
    add(SPRIG_RT_PROFILE_CALL, runs, call.spans.run);
    if (call.read && call.read->length() > 0) add(SPRIG_RT_PROFILE_RANGE, 0, *call.read).name = "return";
    for (uint32_t lane = 0; lane < program.lanes.size(); ++lane)
      for (size_t i = 0; i < program.commands[lane].size(); ++i) {
        const PlayedCommand &command = program.commands[lane][i];
        bool isPackages = lane < program.packageLanes && i >= program.inFront;
        sprig_rt_profile_event &event =
            add(isPackages ? SPRIG_RT_PROFILE_DISPATCH + command.kind : SPRIG_RT_PROFILE_RANGE, firstLane + lane,
                call.commands[lane][i]);
        event.lane = lane;
        event.command = uint32_t(i - (isPackages ? program.inFront : 0));
        if (!isPackages) event.name = command.name.c_str();
      }
  }
  rt::TraceProcess devices{"devices", {}}, links{"links", {}}, path{"critical path", {{"critical path", {}}}};
  for (const SimulatedCalls::Call &call : entry.calls.first)
    for (const CommandPlaceInLane &each : entry.path.commands) {
      Span span = call.commands[each.lane][each.command];
      path.tracks[0].spans.push_back(
          {program.commands[each.lane][each.command].name, wholeNanoseconds(span.begin), wholeNanoseconds(span.end)});
    }
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      devices.tracks.push_back(
          trackOf(topology.nodes[node].name, "busy", entry.calls.deviceBusy[node], drawnOf(entry)));
  for (size_t i = 0; i < entry.played.links.size(); ++i)
    links.tracks.push_back(
        trackOf(directionOf(topology, entry.played.links[i]), "busy", entry.calls.linkBusy[i], drawnOf(entry)));
  rt::TraceNames names(runner.package());
  sprig_rt_profile_data data = {events.data(), events.size(), 0, 0};
  rt::TraceWriter(out, [&](uint32_t) { return &names; }).write(threads, data, {devices, links, path});
}

std::string simulatedTimeline(const Topology &topology, const SimulatedEntry &entry, const std::string &model) {
  const PackageProgram &program = entry.program;
  const SimulatedCalls &calls = entry.calls;
  std::string many;
  if (calls.plan.count > 1)
    many = ", " + std::to_string(calls.plan.count) + " calls " + formatNanoseconds(calls.ns) +
           (calls.first.size() < size_t(calls.plan.count)
                ? " (the first " + std::to_string(calls.first.size()) + " are drawn)"
                : "");
  CallDrawing drawing(model + " on " + topology.name,
                      titleOf(entry) + ": a call takes " + formatNanoseconds(entry.played.ns) + many + ", bound by " +
                          nameOf(boundBy(entry.calls.shares)),
                      drawnOf(entry));
  if (!calls.plan.isOne()) {
    drawing.row("caller");
    for (const SimulatedCalls::Call &call : calls.first) {
      drawing.span(call.spans.issue, "front-end", Drawn::call);
      if (call.read) drawing.span(*call.read, "return", Drawn::call);
    }
    drawing.row("calls");
    for (size_t i = 0; i < calls.first.size(); ++i)
      drawing.span(calls.first[i].spans.run, "call " + std::to_string(i + 1), Drawn::call);
  }
  for (uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
    drawing.row(program.lanes[lane] + " on " + topology.nodes[program.program.lanes[lane].device].name,
                lane == 0 && !calls.plan.isOne());
    for (const SimulatedCalls::Call &call : calls.first)
      for (uint32_t i = 0; i < program.commands[lane].size(); ++i) {
        const PlayedCommand &command = program.commands[lane][i];
        Drawn kind = command.kind == SPRIG_RT_DISPATCH ? Drawn::work
                     : command.kind == SPRIG_RT_COPY   ? Drawn::copy
                                                       : Drawn::wait;
        drawing.span(call.commands[lane][i], command.name, kind, entry.path.has(lane, i));
      }
  }
  bool isFirst = true;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      drawing.uses(topology.nodes[node].name, calls.deviceBusy[node], Drawn::work, std::exchange(isFirst, false));
  isFirst = true;
  for (size_t i = 0; i < entry.played.links.size(); ++i)
    drawing.uses(directionOf(topology, entry.played.links[i]), calls.linkBusy[i], Drawn::copy,
                 std::exchange(isFirst, false));
  return drawing.svg();
}

} // namespace sprig::cli
