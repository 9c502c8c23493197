#include "tools/sprig/simulate/SimulateReport.h"
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/profile/BusyTime.h"
#include "tools/sprig/profile/InFlight.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {
namespace {

using machine::Simulation;
using machine::Topology;

// How a lane spent its time in all calls, and on what.
struct LaneUse {
  size_t commands = 0; // of a call
  double busyNs = 0, waitNs = 0;
};
LaneUse laneUse(const SimulatedEntry &entry, size_t lane) {
  LaneUse use;
  const auto &commands = entry.program.commands[lane];
  use.commands = commands.size();
  for (size_t i = 0; i < commands.size(); ++i)
    if (commands[i].kind != SPRIG_RT_WAIT) use.busyNs += entry.played.commands[lane][i].length();
  use.busyNs = entry.calls.inAll(use.busyNs);
  use.waitNs = entry.calls.waitNs[lane];
  return use;
}

size_t commandCount(const SimulatedEntry &entry) {
  size_t count = 0;
  for (const auto &lane : entry.program.commands)
    count +=
        size_t(std::count_if(lane.begin(), lane.end(), [](auto &command) { return command.kind <= SPRIG_RT_COPY; }));
  return count;
}

std::string us(double ns) { return figureOf(ns / 1e3); }
std::string percentOf(double part, double whole) { return whole > 0 ? formatDouble(100 * part / whole, 3) : ""; }

std::string linkName(const Topology &topology, const machine::LinkUse &use) {
  const machine::TopologyLink &link = topology.links[use.link];
  std::string a = topology.nodes[link.a].name, b = topology.nodes[link.b].name;
  if (link.halfDuplex) return a + " <> " + b;
  return use.forward ? a + " > " + b : b + " > " + a;
}

// Of a call's copies, the caller's arrays included.
double inFlightOf(const SimulatedEntry &entry) {
  std::vector<Flight> flights;
  for (size_t lane = 0; lane < entry.program.program.lanes.size(); ++lane) {
    const auto &commands = entry.program.program.lanes[lane].commands;
    for (size_t i = 0; i < commands.size(); ++i)
      if (commands[i].kind == machine::SimulatedCommand::Kind::copy)
        flights.push_back(
            {entry.played.commands[lane][i].begin, entry.played.commands[lane][i].end, commands[i].bytes});
  }
  return mostInFlight(flights);
}

} // namespace

std::string titleOf(const SimulatedEntry &entry) {
  return "entry '" + entry.program.entry + "'" + (entry.dims.empty() ? "" : " with " + entry.dims) +
         (entry.padding ? ", padded to " + std::to_string(*entry.samples) : "");
}

void printSimulation(const Topology &topology, const SimulatedEntry &entry) {
  const Simulation &played = entry.played;
  std::cout << titleOf(entry) << " on " << topology.name << ": a call takes " << formatNanoseconds(played.ns) << "\n\n";
  const SimulatedCalls &calls = entry.calls;
  if (!calls.plan.isOne()) printCalls(calls);
  Table devices(
      {"device", "busy us", "busy %", "idle us", "peak", "constants", "state", "arrays", "arena", "has", "pressure"});
  // Each of the package's devices has a node of its own.
  for (size_t device = 0; device < entry.program.nodes.size(); ++device) {
    uint32_t node = entry.program.nodes[device];
    double busy = calls.inAll(covered(played.deviceBusy[node]));
    const DeviceMemory &memory = entry.memory[device];
    double has = topology.nodes[node].memoryBytes;
    devices.add({topology.nodes[node].name, us(busy), percentOf(busy, calls.ns), us(calls.ns - busy),
                 formatBytes(double(memory.total())), formatBytes(double(memory.constants)),
                 formatBytes(double(memory.states)), formatBytes(double(memory.arrays)),
                 formatBytes(double(memory.arenaPeak)), has > 0 ? formatBytes(has) : "?",
                 nameOf(machine::pressureOf(calls.ns > 0 ? busy / calls.ns : 0))});
    if (has > 0 && double(memory.total()) > has)
      warn("entry '" + entry.program.entry + "' needs " + formatBytes(double(memory.total())) + " on " +
           topology.nodes[node].name + ", which has " + formatBytes(has));
  }
  devices.print();
  std::cout << '\n';
  Table lanes({"lane", "device", "commands", "busy us", "busy %", "waits us"});
  for (size_t lane = 0; lane < entry.program.lanes.size(); ++lane) {
    LaneUse use = laneUse(entry, lane);
    lanes.add({entry.program.lanes[lane], topology.nodes[entry.program.program.lanes[lane].device].name,
               std::to_string(use.commands), us(use.busyNs), percentOf(use.busyNs, calls.ns), us(use.waitNs)});
  }
  lanes.print();
  if (!played.links.empty()) {
    std::cout << '\n';
    Table links({"link", "copies", "bytes", "busy us", "busy %"});
    for (const machine::LinkUse &use : played.links)
      links.add({linkName(topology, use), std::to_string(uint64_t(calls.plan.count) * use.copies),
                 formatBytes(calls.inAll(use.bytes)), us(calls.inAll(covered(use.busy))),
                 percentOf(calls.inAll(covered(use.busy)), calls.ns)});
    links.print();
    std::cout << "\ncopies go on for " << formatNanoseconds(calls.copyNs) << ", "
              << formatNanoseconds(calls.exposedCopyNs) << " of it with no computation beside them; "
              << inFlightText(inFlightOf(entry)) << '\n';
  }
  std::cout << '\n';
  printPath(entry.path, commandCount(entry), played.ns);
  std::cout << machine::verdictText(calls.shares) << '\n';
}

Json toJson(const Topology &topology, const SimulatedEntry &entry) {
  const Simulation &played = entry.played;
  const SimulatedCalls &calls = entry.calls;
  Json devices = Json::array(), lanes = Json::array(), links = Json::array();
  for (size_t device = 0; device < entry.program.nodes.size(); ++device) {
    uint32_t node = entry.program.nodes[device];
    const DeviceMemory &memory = entry.memory[device];
    double busy = calls.inAll(covered(played.deviceBusy[node])), share = calls.ns > 0 ? busy / calls.ns : 0;
    devices.push_back({{"device", topology.nodes[node].name},
                       {"busy_ns", busy},
                       {"busy_share", share},
                       {"pressure", nameOf(machine::pressureOf(share))},
                       {"idle_ns", calls.ns - busy},
                       {"memory_peak_bytes", memory.total()},
                       {"constant_bytes", memory.constants},
                       {"state_bytes", memory.states},
                       {"array_bytes", memory.arrays},
                       {"arena_peak_bytes", memory.arenaPeak},
                       {"arena_peak_at_ns", memory.peakNs},
                       {"memory_bytes", topology.nodes[node].memoryBytes}});
  }
  for (size_t lane = 0; lane < entry.program.lanes.size(); ++lane) {
    LaneUse use = laneUse(entry, lane);
    Json commands = Json::array();
    for (size_t i = 0; i < entry.program.commands[lane].size(); ++i) {
      const PlayedCommand &command = entry.program.commands[lane][i];
      commands.push_back({{"name", command.name},
                          {"kind", rt::commandKindName(command.kind)},
                          {"begin_ns", played.commands[lane][i].begin},
                          {"end_ns", played.commands[lane][i].end},
                          {"critical", entry.path.has(uint32_t(lane), uint32_t(i))},
                          {"flops", command.flops},
                          {"bytes", command.bytes}});
    }
    lanes.push_back({{"lane", entry.program.lanes[lane]},
                     {"device", topology.nodes[entry.program.program.lanes[lane].device].name},
                     {"busy_ns", use.busyNs},
                     {"wait_ns", use.waitNs},
                     {"commands", commands}});
  }
  for (const machine::LinkUse &use : played.links)
    links.push_back({{"link", linkName(topology, use)},
                     {"copies", uint64_t(calls.plan.count) * use.copies},
                     {"bytes", calls.inAll(use.bytes)},
                     {"busy_ns", calls.inAll(covered(use.busy))},
                     {"busy_share", calls.ns > 0 ? calls.inAll(covered(use.busy)) / calls.ns : 0}});
  return {{"entry", entry.program.entry},
          {"entry_samples", entry.samples ? Json(*entry.samples) : Json()},
          {"padded_samples", entry.padding},
          {"dims", entry.dims},
          {"call_ns", played.ns},
          {"calls", toJson(calls)},
          {"copy_ns", calls.copyNs},
          {"exposed_copy_ns", calls.exposedCopyNs},
          {"in_flight_peak_bytes", inFlightOf(entry)},
          {"critical_path_ns", entry.path.ns},
          {"verdict", verdictToJson(calls.shares)},
          {"devices", devices},
          {"lanes", lanes},
          {"links", links}};
}

} // namespace sprig::cli
