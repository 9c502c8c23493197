#include "tools/sprig/profile/BusyTime.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/profile/InFlight.h"
#include "tools/sprig/profile/ProfileRows.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {
namespace {

constexpr size_t kMostSteps = 1 << 16, kStepsShown = 8;

std::string microseconds(double ns) { return formatDouble(ns / 1e3, 4); }

void printDevices(const BusyTime &busy) {
  Table table({"device", "busy %", "", "threads while busy"});
  for (const auto &[name, device] : busy.devices) {
    double share = device.busyNs / busy.ns;
    table.add({name, formatPercent(share), nameOf(machine::pressureOf(share)),
               formatDouble(device.busyNs > 0 ? device.threadNs / device.busyNs : 0, 3)});
  }
  if (busy.threads.size() > 1)
    for (const auto &[name, ns] : busy.threads) table.add({"  " + name, formatPercent(ns / busy.ns), "", ""});
  for (const auto &[name, ns] : busy.links) table.add({name, formatPercent(ns / busy.ns), "", ""});
  table.print();
  if (busy.inFlight > 0) std::cout << inFlightText(busy.inFlight) << '\n';
}

void printSteps(const BusyTime &busy) {
  Table table({"step", "wait for data us", "call us", "wait %"});
  std::vector<float> waits, calls;
  for (size_t i = 0; i < busy.steps.size(); ++i) {
    const machine::RecordedStep &step = busy.steps[i];
    waits.push_back(float(step.waitNs));
    calls.push_back(float(step.callNs));
    if (i + kStepsShown < busy.steps.size()) continue;
    double all = step.waitNs + step.callNs;
    table.add({std::to_string(i), microseconds(step.waitNs), microseconds(step.callNs),
               formatPercent(all > 0 ? step.waitNs / all : 0)});
  }
  std::cout << '\n';
  table.print();
  std::cout << "a step waits " << formatNanoseconds(medianOf(waits)) << " for data, its call takes "
            << formatNanoseconds(medianOf(calls)) << " (medians)\n";
}

} // namespace

machine::CommandPlace CommandPlaces::operator()(const sprig_rt_profile_event &event) const {
  if (event.kind == SPRIG_RT_PROFILE_UPLOAD) return {event.lane, machine::kHost, event.lane};
  if (event.kind == SPRIG_RT_PROFILE_DOWNLOAD) return {event.lane, event.lane, machine::kHost};
  const rt::core::Entry &entry = runner.package()->package->program().entries[event.entry];
  const rt::core::Lane &lane = entry.lanes[event.lane];
  const rt::core::Command &command = lane.commands[event.command];
  machine::CommandPlace place{lane.device, lane.device, lane.device};
  if (command.kind == rt::core::CommandKind::Copy) {
    place.from = entry.bufferOf(command, 0).device;
    place.to = entry.bufferOf(command, 1).device;
  }
  return place;
}

uint64_t CommandPlaces::bytesBetweenDevices(uint32_t entryIndex, uint32_t lane, uint32_t index) const {
  const rt::core::Entry &entry = runner.package()->package->program().entries[entryIndex];
  const rt::core::Command &command = entry.lanes[lane].commands[index];
  if (command.kind != rt::core::CommandKind::Copy) return 0;
  return entry.bufferOf(command, 0).device == entry.bufferOf(command, 1).device ? 0 : command.copyBytes;
}

std::string CommandPlaces::deviceName(uint32_t device) const {
  return device == machine::kHost ? "host" : runner.deviceName(device);
}

void BusyTime::add(const machine::RecordedTime &time, const CommandPlaces &places, const rt::Profile &profile) {
  ns += time.ns;
  shares += time.shares();
  for (const auto &[device, spans] : time.devices) devices[places.deviceName(device)].busyNs += covered(spans);
  for (const auto &[device, each] : time.deviceThreadNs) devices[places.deviceName(device)].threadNs += each;
  for (const auto &[thread, spans] : time.threads) threads[profile.threadName(thread)] += covered(spans);
  for (const auto &[ends, spans] : time.links)
    links[places.deviceName(ends.first) + " > " + places.deviceName(ends.second)] += covered(spans);
  std::vector<Flight> flights;
  for (const auto &[lane, commands] : time.lanes)
    for (const machine::RecordedCommand &each : commands)
      if (uint64_t bytes = places.bytesBetweenDevices(each.entry, lane, each.command))
        flights.push_back({each.span.begin, each.span.end, double(bytes)});
  inFlight = std::max(inFlight, mostInFlight(flights));
  for (const machine::RecordedStep &step : time.steps)
    if (steps.size() < kMostSteps) steps.push_back(step);
}

void printPath(const CommandPath &path, size_t commands, double callNs) {
  if (path.commands.empty() || !(callNs > 0)) return;
  std::cout << "critical path (*): " << path.commands.size() << " of " << commands
            << (commands == 1 ? " command, " : " commands, ") << formatNanoseconds(path.ns) << " of a call's "
            << formatNanoseconds(callNs) << " (" << formatPercent(path.ns / callNs)
            << " %): the longest chain of which each needs what the one before gives\n";
}

Json verdictToJson(const machine::TimeShares &shares) {
  machine::Bound bound = boundBy(shares);
  return {{"bound", nameOf(bound)},
          {"computation_share", shares.of(shares.computation)},
          {"exposed_communication_share", shares.of(shares.communication)},
          {"exposed_copy_share", shares.of(shares.copies)},
          {"data_share", shares.of(shares.data)},
          {"hand_off_share", shares.of(shares.handOff)},
          {"remedies", machine::remedyFor(bound)}};
}

std::string inFlightText(double bytes) {
  return "copies between devices hold " + formatBytes(bytes) + " on their way at most";
}

void printBusyTime(const BusyTime &busy) {
  if (!(busy.ns > 0)) return;
  std::cout << '\n';
  printDevices(busy);
  if (busy.hasLoader) printSteps(busy);
  std::cout << '\n';
  printPath(busy.path, busy.commands, busy.callNs);
  std::cout << machine::verdictText(busy.shares) << '\n';
}

Json toJson(const BusyTime &busy) {
  Json devices = Json::array(), threads = Json::array(), links = Json::array(), path = Json::array();
  auto share = [&](double part) { return busy.ns > 0 ? part / busy.ns : 0; };
  for (const auto &[name, device] : busy.devices)
    devices.push_back({{"device", name},
                       {"busy_ns", device.busyNs},
                       {"busy_share", share(device.busyNs)},
                       {"pressure", nameOf(machine::pressureOf(share(device.busyNs)))},
                       {"thread_ns", device.threadNs}});
  for (const auto &[name, ns] : busy.threads)
    threads.push_back({{"thread", name}, {"busy_ns", ns}, {"busy_share", share(ns)}});
  for (const auto &[name, ns] : busy.links)
    links.push_back({{"link", name}, {"busy_ns", ns}, {"busy_share", share(ns)}});
  for (const CommandPlaceInLane &each : busy.path.commands)
    path.push_back({{"lane", each.lane}, {"command", each.command}});
  Json json = {{"devices", devices},
               {"threads", threads},
               {"links", links},
               {"in_flight_peak_bytes", busy.inFlight},
               {"critical_path",
                {{"ns", busy.path.ns},
                 {"call_ns", busy.callNs},
                 {"share", busy.callNs > 0 ? busy.path.ns / busy.callNs : 0},
                 {"commands", path}}},
               {"verdict", verdictToJson(busy.shares)}};
  if (busy.hasLoader) {
    json["steps"] = Json::array();
    for (const machine::RecordedStep &step : busy.steps)
      json["steps"].push_back({{"wait_for_data_ns", step.waitNs}, {"call_ns", step.callNs}});
  }
  return json;
}

} // namespace sprig::cli
