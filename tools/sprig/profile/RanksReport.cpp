// Profiles of ranks as tables, as JSON and as a trace.
#include "sprig/rt/trace.hpp"
#include "tools/sprig/profile/BusyTime.h"
#include "tools/sprig/profile/ProfileRanks.h"
#include "tools/sprig/profile/RankTable.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <map>

namespace sprig::cli {
namespace {

constexpr uint64_t kCallsInTrace = 32;

std::vector<std::string> namesOf(const RanksProfile &profile) {
  std::vector<std::string> names;
  for (int rank = 0; rank < profile.place.ranks; ++rank)
    names.push_back(profile.place.isProcess ? "process " + std::to_string(rank) : "cpu:" + std::to_string(rank));
  return names;
}

} // namespace

void printRanksProfile(const RanksProfile &profile) {
  Table table({"collective", "bytes", "us", "of it waits for the last us"});
  for (const RanksProfile::Meeting &each : profile.meetings)
    table.add({each.name, formatBytes(each.bytes), formatDouble(each.ns / 1e3, 4), formatDouble(each.waitNs / 1e3, 4)});
  table.print();
  std::cout << profile.calls << " calls of entry '" << profile.entry << "'"
            << (profile.dims.empty() ? "" : " with " + profile.dims)
            << (profile.stepsPerCall == 1 ? "" : ", of " + std::to_string(profile.stepsPerCall) + " steps each")
            << " on " << profile.place.ranks << (profile.place.isProcess ? " processes: " : " threads as ranks: ")
            << formatNanoseconds(profile.times.ns) << "; a step takes "
            << formatNanoseconds(*std::max_element(profile.stepNs.begin(), profile.stepNs.end()))
            << " (median of the slowest rank)\n\n";
  printRankTimes(profile.times, namesOf(profile));
  if (profile.inFlightBytes > 0)
    std::cout << "collectives hold " << formatBytes(profile.inFlightBytes) << " of a rank on their way at most\n";
  if (profile.place.isProcess)
    std::cout << "clocks of processes are known to " << formatNanoseconds(profile.clockErrorNs) << '\n';
  std::cout << '\n' << machine::verdictText(profile.shares) << '\n';
}

Json toJson(const RanksProfile &profile) {
  Json meetings = Json::array();
  for (const RanksProfile::Meeting &each : profile.meetings)
    meetings.push_back(
        {{"name", each.name}, {"bytes", each.bytes}, {"mean_ns", each.ns}, {"wait_for_last_ns", each.waitNs}});
  return {{"entry", profile.entry},
          {"dims", profile.dims},
          {"ranks", profile.place.ranks},
          {"processes", profile.place.isProcess},
          {"calls", profile.calls},
          {"steps_per_call", profile.stepsPerCall},
          {"step_median_ns", profile.stepNs},
          {"collectives", meetings},
          {"times", toJson(profile.times, namesOf(profile))},
          {"in_flight_peak_bytes", profile.inFlightBytes},
          {"clock_error_ns", profile.clockErrorNs},
          {"verdict", verdictToJson(profile.shares)}};
}

void writeRanksTrace(std::ostream &out, const RanksProfile &profile) {
  std::vector<sprig_rt_profile_event> calls;
  std::vector<rt::TraceThread> threads;
  std::vector<rt::TraceProcess> processes;
  std::vector<std::string> names = namesOf(profile);
  for (size_t rank = 0; rank < profile.events.size(); ++rank) {
    const std::vector<RankEvent> &events = profile.events[rank];
    // The last few calls.
    std::vector<uint64_t> begins;
    for (const RankEvent &event : events)
      if (event.kind == SPRIG_RT_PROFILE_CALL) begins.push_back(event.begin);
    uint64_t since = begins.size() > kCallsInTrace ? begins[begins.size() - kCallsInTrace] : 0;
    std::string name = "rank " + std::to_string(rank) + " on " + names[rank];
    threads.push_back({name});
    std::map<uint32_t, rt::TraceProcess::Track> lanes;
    for (const RankEvent &event : events) {
      if (event.begin < since) continue;
      if (event.kind == SPRIG_RT_PROFILE_CALL) {
        sprig_rt_profile_event &call = calls.emplace_back();
        call = {};
        call.kind = SPRIG_RT_PROFILE_RANGE;
        call.thread = uint32_t(rank);
        call.begin_ns = event.begin;
        call.end_ns = event.end;
        call.name = "step";
        continue;
      }
      lanes[event.lane].spans.push_back({profile.nameOf(rank, event.lane, event.command), event.begin, event.end});
    }
    rt::TraceProcess process{name, {}};
    for (auto &[lane, track] : lanes) {
      track.name = "lane " + std::to_string(lane);
      process.tracks.push_back(std::move(track));
    }
    processes.push_back(std::move(process));
  }
  sprig_rt_profile_data data = {calls.data(), calls.size(), 0, 0};
  rt::TraceWriter(out, {}).write(threads, data, processes);
}

} // namespace sprig::cli
