// A simulated call as a trace and as a picture.
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/CallDrawing.h"
#include "tools/sprig/simulate/SimulateReport.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace sprig::cli {
namespace {

using machine::Span;
using machine::Topology;

// Far more than a trace can show.
uint64_t whole(double ns) { return uint64_t(std::llround(std::min(ns, 1e18))); }

std::string directionOf(const Topology &topology, const machine::LinkUse &use) {
  const machine::TopologyLink &link = topology.links[use.link];
  uint32_t from = use.forward ? link.a : link.b, to = use.forward ? link.b : link.a;
  return topology.nodes[from].name + (link.halfDuplex ? " and " : " to ") + topology.nodes[to].name;
}

rt::TraceProcess::Track trackOf(const std::string &name, const std::string &what, const std::vector<Span> &spans) {
  rt::TraceProcess::Track track{name, {}};
  for (const Span &span : spans) track.spans.push_back({what, whole(span.begin), whole(span.end)});
  return track;
}

} // namespace

void writeSimulatedTrace(std::ostream &out, const Runner &runner, const Topology &topology,
                         const SimulatedEntry &entry) {
  const PackageProgram &program = entry.program;
  std::vector<sprig_rt_profile_event> events;
  std::vector<std::string> threads;
  auto add = [&](int32_t kind, const Span &span) -> sprig_rt_profile_event & {
    sprig_rt_profile_event &event = events.emplace_back();
    event = {};
    event.kind = kind;
    event.thread = uint32_t(threads.size() - 1);
    event.begin_ns = whole(span.begin);
    event.end_ns = whole(span.end);
    event.entry = entry.index;
    event.context = event.call = 1;
    return event;
  };
  threads.push_back("caller");
  add(SPRIG_RT_PROFILE_CALL, {0, entry.played.ns});
  for (uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
    threads.push_back(program.lanes[lane] + " on " + topology.nodes[program.program.lanes[lane].device].name);
    for (size_t i = 0; i < program.commands[lane].size(); ++i) {
      const PlayedCommand &command = program.commands[lane][i];
      const Span &span = entry.played.commands[lane][i];
      bool isPackages =
          lane < program.packageLanes && i >= program.inFront && i + program.behind < program.commands[lane].size();
      sprig_rt_profile_event &event =
          add(isPackages ? SPRIG_RT_PROFILE_DISPATCH + command.kind : SPRIG_RT_PROFILE_RANGE, span);
      event.lane = lane;
      event.command = uint32_t(i - (isPackages ? program.inFront : 0));
      if (!isPackages) event.name = command.name.c_str();
    }
  }
  rt::TraceProcess devices{"devices", {}}, links{"links", {}}, path{"critical path", {{"critical path", {}}}};
  for (const CommandPlaceInLane &each : entry.path.commands) {
    const Span &span = entry.played.commands[each.lane][each.command];
    path.tracks[0].spans.push_back(
        {program.commands[each.lane][each.command].name, whole(span.begin), whole(span.end)});
  }
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      devices.tracks.push_back(trackOf(topology.nodes[node].name, "busy", entry.played.deviceBusy[node]));
  for (const machine::LinkUse &use : entry.played.links)
    links.tracks.push_back(trackOf(directionOf(topology, use), "busy", use.busy));
  rt::TraceNames names(runner.package());
  sprig_rt_profile_data data = {events.data(), events.size(), 0, 0};
  rt::TraceWriter(out, [&](uint32_t) { return &names; }).write(threads, data, {devices, links, path});
}

std::string simulatedTimeline(const Topology &topology, const SimulatedEntry &entry, const std::string &model) {
  const PackageProgram &program = entry.program;
  CallDrawing drawing(model + " on " + topology.name,
                      titleOf(entry) + ": a call takes " + formatNanoseconds(entry.played.ns) + ", bound by " +
                          nameOf(boundBy(entry.shares)),
                      {0, entry.played.ns});
  for (uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
    drawing.row(program.lanes[lane] + " on " + topology.nodes[program.program.lanes[lane].device].name);
    for (uint32_t i = 0; i < program.commands[lane].size(); ++i) {
      const PlayedCommand &command = program.commands[lane][i];
      Drawn kind = command.kind == SPRIG_RT_DISPATCH ? Drawn::work
                   : command.kind == SPRIG_RT_COPY   ? Drawn::copy
                                                     : Drawn::wait;
      drawing.span(entry.played.commands[lane][i], command.name, kind, entry.path.has(lane, i));
    }
  }
  bool isFirst = true;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      drawing.uses(topology.nodes[node].name, entry.played.deviceBusy[node], Drawn::work,
                   std::exchange(isFirst, false));
  isFirst = true;
  for (const machine::LinkUse &use : entry.played.links)
    drawing.uses(directionOf(topology, use), use.busy, Drawn::copy, std::exchange(isFirst, false));
  return drawing.svg();
}

} // namespace sprig::cli
