#include "tools/sprig/simulate/RankReport.h"
#include "tools/sprig/profile/BusyTime.h"
#include "tools/sprig/profile/RankTable.h"
#include "tools/sprig/simulate/SimulatedCalls.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <set>

namespace sprig::cli {
namespace {

using machine::RanksTime;
using machine::RankTimes;
using machine::Topology;

constexpr size_t kRanksShown = 8;

// "cuda > pcie": what a link joins, without numbers.
std::string kindOf(const std::string &node) { return node.substr(0, node.find_first_of(":.")); }

std::string linkText(const Topology &topology, const machine::LinkUse &use, bool isKind) {
  const machine::TopologyLink &link = topology.links[use.link];
  std::string a = topology.nodes[link.a].name, b = topology.nodes[link.b].name;
  if (isKind) a = kindOf(a), b = kindOf(b);
  if (link.halfDuplex) return a + " <> " + b;
  return use.forward ? a + " > " + b : b + " > " + a;
}

// Links of one kind that carry about the same are one row.
struct LinkRow {
  std::string name;
  size_t links = 0;
  double mostBytes = 0, busyNs = 0;
};
std::vector<LinkRow> linkRows(const PlayedRanks &point) {
  const Topology &topology = point.isOneForAll() ? point.cluster.one->topology : point.cluster.topology;
  bool isMany = point.played.links.size() > 2 * kRanksShown || point.isOneForAll();
  std::vector<LinkRow> rows;
  for (const machine::LinkUse &use : point.played.links) {
    std::string name = linkText(topology, use, isMany);
    auto found = std::find_if(rows.begin(), rows.end(), [&](const LinkRow &row) { return row.name == name; });
    if (found == rows.end()) found = rows.insert(rows.end(), LinkRow{name});
    ++found->links;
    found->mostBytes = std::max(found->mostBytes, use.bytes / double(point.stepsPerCall));
    found->busyNs = std::max(found->busyNs, covered(use.busy) / double(point.stepsPerCall));
  }
  if (point.isOneForAll())
    for (LinkRow &row : rows) row.links *= size_t(point.cluster.machines());
  return rows;
}

std::vector<std::string> namesOfRanks(const PlayedRanks &point) {
  const Topology &topology = point.isOneForAll() ? point.cluster.one->topology : point.cluster.topology;
  const std::vector<uint32_t> &nodes = point.isOneForAll() ? point.cluster.one->nodes : point.cluster.nodes;
  std::vector<std::string> names;
  for (uint32_t node : nodes) names.push_back(topology.nodes[node].name);
  return names;
}

std::string ranksText(int ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

std::string whereText(const PlayedRanks &point) {
  return point.cluster.topology.name + (point.cluster.rule.empty() ? "" : " (" + point.cluster.rule + ")");
}

// Of all ranks that were played, on average.
double meanOf(const PlayedRanks &point, double RankTimes::*part) {
  double sum = 0;
  for (const RankTimes &rank : point.times.ranks) sum += rank.*part;
  return point.times.ranks.empty() ? 0 : sum / double(point.times.ranks.size());
}

} // namespace

const char *nameOf(Scaling scaling) { return scaling == Scaling::weak ? "weak" : "strong"; }

void printRanks(const PlayedRanks &point, Scaling scaling) {
  std::cout << "a step of " << ranksText(point.ranks) << " on " << whereText(point) << ": "
            << formatNanoseconds(point.ns) << "; of one rank " << formatNanoseconds(point.oneNs) << "\n";
  if (point.stepsPerCall > 1)
    std::cout << "in calls of " << point.stepsPerCall << " steps, of which one is what is said here\n";
  if (!point.shares.empty())
    std::cout << nameOf(scaling) << " scaling: " << point.shares << ", " << point.samples << " in all\n";
  std::cout << "speed-up " << formatDouble(point.speedUp, 4) << ", efficiency " << formatPercent(point.efficiency)
            << " %\n\n";
  if (point.isOneForAll())
    std::cout << "all " << (point.cluster.perMachine > 1 ? "machines" : "ranks")
              << " do the same at the same time: one is played for all\n";
  if (point.isLargestOfAll) std::cout << "shares differ, all are played as the largest\n";
  printRankTimes(point.times, namesOfRanks(point));
  if (std::vector<LinkRow> rows = linkRows(point); !rows.empty()) {
    std::cout << '\n';
    Table links({"link", "of them", "bytes", "busy ms", "busy %"});
    for (const LinkRow &row : rows)
      links.add({row.name, std::to_string(row.links), formatBytes(row.mostBytes), formatMilliseconds(row.busyNs),
                 formatPercent(point.ns > 0 ? row.busyNs / point.ns : 0)});
    links.print();
  }
  if (point.bytesBesides > 0)
    std::cout << "and " << formatBytes(point.bytesBesides)
              << " of each machine on average, of sums in which ranks have different parts (trees, stars)\n";
  std::cout << '\n' << machine::verdictText(point.timeShares) << '\n';
  if (point.ranks > 1 && point.lost.all() > 0.01 * point.ns) std::cout << reasonFor(point) << '\n';
}

void printRankCurve(const std::vector<PlayedRanks> &points, Scaling scaling) {
  std::cout << nameOf(scaling) << " scaling on " << points.back().cluster.topology.name
            << (points.back().stepsPerCall > 1
                    ? ", in calls of " + std::to_string(points.back().stepsPerCall) + " steps"
                    : "")
            << "\n\n";
  Table table({"ranks", "samples", "step ms", "speed-up", "efficiency %", "computes ms", "communicates ms",
               "exposed ms", "exposed %", "bound by"});
  for (const PlayedRanks &point : points)
    table.add({std::to_string(point.ranks), std::to_string(point.samples), formatMilliseconds(point.ns),
               formatDouble(point.speedUp, 4), formatPercent(point.efficiency),
               formatMilliseconds(meanOf(point, &RankTimes::computing)),
               formatMilliseconds(meanOf(point, &RankTimes::communicating)),
               formatMilliseconds(meanOf(point, &RankTimes::exposed)),
               formatPercent(meanOf(point, &RankTimes::exposed) / point.ns), nameOf(boundBy(point.timeShares))});
  table.print();
  std::cout << '\n';
  std::set<std::string> rules;
  for (const PlayedRanks &point : points)
    if (!point.cluster.rule.empty()) rules.insert(point.cluster.rule);
  if (!rules.empty())
    std::cout << "more ranks than " << points.back().cluster.topology.name
              << " has devices: " << points.back().cluster.rule << (rules.size() > 1 ? ", and fewer for fewer" : "")
              << '\n';
  for (const PlayedRanks &point : points)
    if (point.isLargestOfAll) std::cout << ranksText(point.ranks) << ": shares differ, all are played as the largest\n";
  for (const std::string &line : curveInWords(points)) std::cout << line << '\n';
}

Json toJson(const PlayedRanks &point) {
  Json links = Json::array();
  for (const LinkRow &row : linkRows(point))
    links.push_back({{"link", row.name}, {"links", row.links}, {"bytes", row.mostBytes}, {"busy_ns", row.busyNs}});
  return {{"ranks", point.ranks},
          {"samples", point.samples},
          {"nodes", whereText(point)},
          {"played", point.isOneForAll() ? "one for all" : "all"},
          {"largest_share_for_all", point.isLargestOfAll},
          {"steps_per_call", point.stepsPerCall},
          {"step_ns", point.ns},
          {"one_rank_ns", point.oneNs},
          {"speed_up", point.speedUp},
          {"efficiency", point.efficiency},
          {"lost_ns", point.lost.all()},
          {"lost",
           {{"latency_ns", point.lost.latency},
            {"bandwidth_ns", point.lost.bandwidth},
            {"small_shares_ns", point.lost.small},
            {"uneven_shares_ns", point.lost.uneven}}},
          {"meetings", point.meetings},
          {"messages_in_a_row", point.messages},
          {"times", toJson(point.times, namesOfRanks(point))},
          {"links", links},
          {"bytes_besides", point.bytesBesides},
          {"verdict", verdictToJson(point.timeShares)}};
}

} // namespace sprig::cli
