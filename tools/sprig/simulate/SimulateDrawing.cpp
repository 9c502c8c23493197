// A simulated call as a trace and as a picture.
#include "lib/Plot/Timeline.h"
#include "sprig/rt/trace.hpp"
#include "tools/sprig/simulate/SimulateReport.h"
#include <algorithm>
#include <cmath>

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

enum Color { kWork, kCopy, kWait = 5 };

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
  rt::TraceProcess devices{"devices", {}}, links{"links", {}};
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      devices.tracks.push_back(trackOf(topology.nodes[node].name, "busy", entry.played.deviceBusy[node]));
  for (const machine::LinkUse &use : entry.played.links)
    links.tracks.push_back(trackOf(directionOf(topology, use), "busy", use.busy));
  rt::TraceNames names(runner.package());
  sprig_rt_profile_data data = {events.data(), events.size(), 0, 0};
  rt::TraceWriter(out, [&](uint32_t) { return &names; }).write(threads, data, {devices, links});
}

std::string simulatedTimeline(const Topology &topology, const SimulatedEntry &entry, const std::string &model) {
  const PackageProgram &program = entry.program;
  plot::Timeline timeline;
  timeline.title = model + " on " + topology.name;
  timeline.subtitle = titleOf(entry) + ": a call takes " + formatNanoseconds(entry.played.ns);
  timeline.ns = entry.played.ns;
  timeline.keys = {{"computes", kWork}, {"copies", kCopy}, {"waits", kWait, true}};
  for (size_t lane = 0; lane < program.lanes.size(); ++lane) {
    plot::TimelineRow row{program.lanes[lane] + " on " + topology.nodes[program.program.lanes[lane].device].name, {}};
    for (size_t i = 0; i < program.commands[lane].size(); ++i) {
      const PlayedCommand &command = program.commands[lane][i];
      const Span &span = entry.played.commands[lane][i];
      if (!(span.end > span.begin)) continue;
      int color = command.kind == SPRIG_RT_DISPATCH ? kWork : command.kind == SPRIG_RT_COPY ? kCopy : kWait;
      row.spans.push_back({span.begin, span.end, command.name, color, color == kWait});
    }
    timeline.rows.push_back(std::move(row));
  }
  auto addUse = [&](const std::string &label, const std::vector<Span> &spans, int color, bool isFirst) {
    plot::TimelineRow row{label, {}, isFirst};
    for (const Span &span : spans) row.spans.push_back({span.begin, span.end, "", color});
    timeline.rows.push_back(std::move(row));
  };
  bool isFirst = true;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!entry.played.deviceBusy[node].empty())
      addUse(topology.nodes[node].name, entry.played.deviceBusy[node], kWork, std::exchange(isFirst, false));
  isFirst = true;
  for (const machine::LinkUse &use : entry.played.links)
    addUse(directionOf(topology, use), use.busy, kCopy, std::exchange(isFirst, false));
  return toSvg(timeline);
}

} // namespace sprig::cli
