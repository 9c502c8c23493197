// Played steps of ranks, as a trace and as pictures.
#include "lib/Plot/Chart.h"
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/CallDrawing.h"
#include "tools/sprig/simulate/RankReport.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {
namespace {

using machine::Span;

constexpr size_t kRanksInTrace = 16, kRanksInPicture = 4;

const machine::Topology &topologyOf(const PlayedRanks &point) {
  return point.isOneForAll() ? point.cluster.one->topology : point.cluster.topology;
}

std::string rankName(const PlayedRanks &point, size_t rank) {
  const std::vector<uint32_t> &nodes = point.isOneForAll() ? point.cluster.one->nodes : point.cluster.nodes;
  return "rank " + std::to_string(rank) + " on " + topologyOf(point).nodes[nodes[rank]].name;
}

} // namespace

void writeRankTrace(std::ostream &out, const PlayedRanks &point) {
  std::vector<sprig_rt_profile_event> events;
  std::vector<rt::TraceThread> threads;
  std::vector<rt::TraceProcess> processes;
  for (size_t rank = 0; rank < std::min(point.spans.size(), kRanksInTrace); ++rank) {
    sprig_rt_profile_event &step = events.emplace_back();
    step = {};
    step.kind = SPRIG_RT_PROFILE_RANGE;
    step.thread = uint32_t(rank);
    step.end_ns = wholeNanoseconds(point.played.ns);
    step.name = "step";
    threads.push_back({rankName(point, rank)});
    rt::TraceProcess process{rankName(point, rank), {}};
    for (size_t lane = 0; lane < point.spans[rank].size(); ++lane) {
      rt::TraceProcess::Track track{"lane " + std::to_string(lane), {}};
      for (size_t i = 0; i < point.spans[rank][lane].size(); ++i) {
        const Span &span = point.spans[rank][lane][i];
        if (span.length() > 0)
          track.spans.push_back(
              {point.steps[rank]->commands[lane][i].name, wholeNanoseconds(span.begin), wholeNanoseconds(span.end)});
      }
      process.tracks.push_back(std::move(track));
    }
    processes.push_back(std::move(process));
  }
  rt::TraceProcess links{"links", {}};
  for (const machine::LinkUse &use : point.played.links) {
    rt::TraceProcess::Track track{directionOf(topologyOf(point), use), {}};
    for (const Span &span : use.busy)
      track.spans.push_back({"busy", wholeNanoseconds(span.begin), wholeNanoseconds(span.end)});
    links.tracks.push_back(std::move(track));
  }
  processes.push_back(std::move(links));
  sprig_rt_profile_data data = {events.data(), events.size(), 0, 0};
  rt::TraceWriter(out, {}).write(threads, data, processes);
}

std::string rankTimeline(const PlayedRanks &point, const std::string &model) {
  CallDrawing drawing(model + " on " + std::to_string(point.ranks) + " ranks of " + point.cluster.topology.name,
                      "a step takes " + formatNanoseconds(point.ns) + ", efficiency " +
                          formatDouble(100 * point.efficiency, 3) + " %, bound by " + nameOf(boundBy(point.timeShares)),
                      {0, point.played.ns});
  for (size_t rank = 0; rank < std::min(point.spans.size(), kRanksInPicture); ++rank) {
    const StepProgram &step = *point.steps[rank];
    for (size_t lane = 0; lane < point.spans[rank].size(); ++lane) {
      drawing.row(rankName(point, rank) + (lane ? ", lane " + std::to_string(lane) : ""), lane == 0 && rank > 0);
      for (size_t i = 0; i < point.spans[rank][lane].size(); ++i) {
        const machine::RankStep::Command &command = step.step.lanes[lane][i];
        Drawn kind = !command.meetings.empty()                                       ? Drawn::meet
                     : command.command.kind == machine::SimulatedCommand::Kind::work ? Drawn::work
                                                                                     : Drawn::wait;
        drawing.span(point.spans[rank][lane][i], step.commands[lane][i].name, kind);
      }
    }
  }
  bool isFirst = true;
  for (size_t i = 0; i < std::min<size_t>(point.played.links.size(), 2 * kRanksInPicture); ++i, isFirst = false)
    drawing.uses(directionOf(topologyOf(point), point.played.links[i]), point.played.links[i].busy, Drawn::copy,
                 isFirst);
  return drawing.svg();
}

std::string rankCurve(const std::vector<PlayedRanks> &points, Scaling scaling, const std::string &model) {
  plot::Chart chart;
  chart.title = model + " on ranks of " + points.back().cluster.topology.name;
  chart.subtitle = std::string(nameOf(scaling)) + " scaling, simulated";
  chart.xLabel = "ranks";
  chart.logX = points.size() > 2 && points.front().ranks > 0;
  plot::Panel speed, shares;
  speed.label = "speed-up";
  shares.label = "efficiency";
  speed.log = plot::LogChoice::whenItHelps;
  shares.percent = true;
  plot::Series ideal{"ideal", {}, {}}, reached{"reached", {}, {}}, efficiency{"efficiency", {}, {}},
      exposed{"exposed communication", {}, {}};
  ideal.faint = true;
  reached.markers = efficiency.markers = exposed.markers = true;
  reached.color = efficiency.color = 0;
  exposed.color = 1;
  for (const PlayedRanks &point : points) {
    double x = point.ranks, sum = 0;
    for (const machine::RankTimes &rank : point.times.ranks) sum += rank.exposed;
    for (plot::Series *series : {&ideal, &reached, &efficiency, &exposed}) series->x.push_back(x);
    ideal.y.push_back(x);
    reached.y.push_back(point.speedUp);
    efficiency.y.push_back(point.efficiency);
    exposed.y.push_back(sum / double(point.times.ranks.size()) / point.ns);
  }
  speed.series = {ideal, reached};
  shares.series = {efficiency, exposed};
  chart.panels = {speed, shares};
  return toSvg(chart);
}

} // namespace sprig::cli
