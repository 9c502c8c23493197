#include "tools/sprig/profile/ProfileRanks.h"
#include "lib/Machine/ClockOffset.h"
#include "runtime/api/Handles.h"
#include "sprig/rt/profile.hpp"
#include "tools/sprig/profile/InFlight.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/profile/ProfileRows.h"
#include "tools/sprig/run/RankThreads.h"
#include "tools/sprig/run/RankedModel.h"
#include <algorithm>
#include <chrono>

namespace sprig::cli {
namespace {

using machine::BarrierStamps;
using machine::isMeeting;
using machine::Span;

constexpr uint32_t kRing = 1 << 16;
constexpr uint64_t kMaxProfiledCalls = 1000;
constexpr int kStamps = 20; // barriers before the calls, and as many behind them

bool isKept(int32_t kind) {
  return kind == SPRIG_RT_PROFILE_CALL || kind == SPRIG_RT_PROFILE_DISPATCH || kind == SPRIG_RT_PROFILE_COPY ||
         isMeeting(kind);
}

// The clock of the runtime's events.
uint64_t now() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

class Session {
public:
  Session(RanksToProfile given, const Settings &settings) : given(std::move(given)) {
    const RankPlace &place = this->given.place;
    std::vector<std::shared_ptr<sprig_rt_group>> groups;
    if (place.isProcess)
      groups.push_back(this->given.group ? this->given.group : processAsRank());
    else
      groups = threadsAsRanks(place.ranks);
    for (size_t i = 0; i < runners().size(); ++i) {
      runners()[i].join(groups[i]);
      uint64_t seed = this->given.seed + i;
      ProfileTarget target = chooseTargets(runners()[i], this->given.entry, settings, seed).front();
      if (!target.entry) badUse("--entry: expected a step that ranks take together");
      int rank = place.isProcess ? place.rank : int(i);
      if (auto own = entryOfRank(runners()[i], *target.entry, rank); own && *own != *target.entry)
        target = targetOf(runners()[i], *own, seed);
      if (i == 0) {
        result.dims = target.dims;
        result.stepsPerCall = stepsOfEntry(runners()[i], *target.entry);
      }
      if (this->given.arrays) target.arrays = RankedModel::piecesFor(runners()[i], *target.entry, *this->given.arrays);
      entries.push_back(uint32_t(*target.entry));
      calls.push_back(runners()[i].prepare(*target.entry, target.arrays));
    }
    result.place = place;
    // What another process runs is in the package, or is like this one's.
    for (int rank = 0; rank < place.ranks; ++rank) {
      size_t here = place.isProcess ? 0 : size_t(rank);
      const Runner &runner = runners()[here];
      programs.push_back({&runner, entryOfRank(runner, entries[here], rank).value_or(entries[here])});
    }
  }

  RanksProfile run() {
    describe();
    callAll(3);
    rt::Profile profile(kRing);
    result.calls = chooseCalls();
    std::vector<BarrierStamps> stamps;
    stamp(stamps);
    for (const Runner &runner : runners()) check(sprig_rt_profile_start(profile.raw(), runner.runContext()));
    callAll(result.calls);
    for (const Runner &runner : runners()) sprig_rt_profile_stop(profile.raw(), runner.runContext());
    stamp(stamps);
    collect(profile.read());
    if (given.place.isProcess) comeTogether(stamps);
    analyse();
    return std::move(result);
  }

private:
  std::vector<Runner> &runners() { return given.runners; }

  // A rank's own calls, all ranks of this process side by side.
  void callAll(uint64_t count) {
    onRankThreads(runners(), [&](size_t rank) {
      for (uint64_t i = 0; i < count; ++i) calls[rank].invoke();
    });
  }

  // As many as the seconds hold, and the rings; all ranks have to make the same number.
  uint64_t chooseCalls() {
    constexpr int kTried = 3;
    uint64_t begin = now();
    callAll(kTried);
    double each = std::max(1.0, double(now() - begin) / kTried);
    size_t events = 4;
    for (const auto &lane : result.commandNames[size_t(given.place.rank)]) events += lane.size();
    events *= 1 + 4 * size_t(runners()[0].threads()); // commands that are cut record their slices
    uint64_t room = std::clamp<uint64_t>(kRing / events, 1, kMaxProfiledCalls);
    uint64_t wanted = given.calls ? given.calls : std::max<uint64_t>(1, uint64_t(given.seconds * 1e9 / each));
    if (given.calls > room)
      warn("--calls " + std::to_string(given.calls) + ": " + std::to_string(room) + " are recorded at most");
    std::vector<uint64_t> count = {given.place.rank == 0 ? std::min(wanted, room) : 0};
    if (given.place.isProcess) runners()[0].allReduce(count, SPRIG_RT_MAX, "number of calls");
    return count[0];
  }

  void stamp(std::vector<BarrierStamps> &stamps) {
    if (!given.place.isProcess) return;
    for (int i = 0; i < kStamps; ++i) {
      std::vector<uint64_t> none = {0};
      BarrierStamps each;
      each.came = now();
      runners()[0].allReduce(none, SPRIG_RT_MAX, "clocks");
      each.left = now();
      stamps.push_back(each);
    }
  }

  void collect(const sprig_rt_profile_data &data) {
    std::map<uint32_t, size_t> ranks; // by context
    for (size_t i = 0; i < runners().size(); ++i) ranks[sprig_rt_context_number(runners()[i].runContext())] = i;
    result.events.resize(size_t(given.place.ranks));
    for (uint64_t i = 0; i < data.count; ++i) {
      const sprig_rt_profile_event &event = data.events[i];
      auto rank = ranks.find(event.context);
      if (rank == ranks.end() || !isKept(event.kind) || event.begin_ns < data.complete_since_ns) continue;
      result.events[size_t(given.place.rank) + rank->second].push_back(
          {event.kind, event.lane, event.command, event.begin_ns, event.end_ns});
    }
    for (auto &events : result.events)
      std::stable_sort(events.begin(), events.end(), [](auto &a, auto &b) { return a.begin < b.begin; });
  }

  // Every process has a slot of its own in a sum, which is zero elsewhere.
  std::vector<uint64_t> gather(const std::vector<uint64_t> &own, const char *name) {
    std::vector<uint64_t> size = {own.size()};
    runners()[0].allReduce(size, SPRIG_RT_MAX, name);
    std::vector<uint64_t> all(size[0] * size_t(given.place.ranks), 0);
    std::copy(own.begin(), own.end(), all.begin() + int64_t(size[0] * size_t(given.place.rank)));
    runners()[0].allReduce(all, SPRIG_RT_SUM, name);
    return all;
  }

  void comeTogether(const std::vector<BarrierStamps> &stamps) {
    std::vector<uint64_t> clocks, own;
    for (const BarrierStamps &each : stamps) clocks.insert(clocks.end(), {each.came, each.left});
    for (const RankEvent &event : result.events[size_t(given.place.rank)])
      own.insert(own.end(),
                 {uint64_t(event.kind) + 1, uint64_t(event.lane) << 32 | event.command, event.begin, event.end});
    std::vector<uint64_t> allClocks = gather(clocks, "clocks"), allEvents = gather(own, "recordings");
    size_t each = allEvents.size() / size_t(given.place.ranks);
    std::vector<BarrierStamps> first;
    for (size_t rank = 0; rank < result.events.size(); ++rank) {
      std::vector<BarrierStamps> others;
      for (size_t i = 0; i < stamps.size(); ++i) {
        const uint64_t *at = &allClocks[rank * clocks.size() + 2 * i];
        others.push_back({at[0], at[1]});
      }
      if (rank == 0) first = others;
      machine::ClockOffset offset = machine::clockOffset(first, others);
      if (rank) result.clockErrorNs = std::max(result.clockErrorNs, std::abs(offset.errorNs));
      auto shift = rank ? int64_t(offset.ns) : 0;
      std::vector<RankEvent> &events = result.events[rank];
      events.clear();
      for (size_t i = rank * each; i < (rank + 1) * each && allEvents[i]; i += 4)
        events.push_back({int32_t(allEvents[i] - 1), uint32_t(allEvents[i + 1] >> 32), uint32_t(allEvents[i + 1]),
                          allEvents[i + 2] - uint64_t(shift), allEvents[i + 3] - uint64_t(shift)});
    }
  }

  void describe() {
    sprig_rt_entry_info info = runners()[0].entryInfo(entries[0]);
    result.entry = info.name;
    for (const Program &program : programs) {
      auto &lanes = result.commandNames.emplace_back();
      for (const rt::core::Lane &lane : program.told().lanes) {
        lanes.emplace_back();
        for (uint32_t i = 0; i < lane.commands.size(); ++i) {
          sprig_rt_command_info command;
          check(sprig_rt_package_command(program.runner->package(), program.entry,
                                         uint32_t(&lane - &program.told().lanes[0]), i, &command));
          lanes.back().push_back(command.name && *command.name ? command.name : rt::commandKindName(command.kind));
        }
      }
    }
  }

  /// What a rank runs, as this process knows it.
  struct Program {
    const Runner *runner;
    uint32_t entry;
    const rt::core::Entry &told() const { return runner->package()->package->program().entries[entry]; }
    /// Null where the rank's program is another one.
    const rt::core::Command *at(uint32_t lane, uint32_t index) const {
      const std::vector<rt::core::Lane> &lanes = told().lanes;
      return lane < lanes.size() && index < lanes[lane].commands.size() ? &lanes[lane].commands[index] : nullptr;
    }
  };

  // What it holds while it is on its way.
  double bytesOf(size_t rank, uint32_t lane, uint32_t index) const {
    const rt::core::Command *command = programs[rank].at(lane, index);
    double bytes = 0;
    for (uint32_t b = 0; command && b < command->operandCount; ++b)
      bytes += double(programs[rank].told().bufferOf(*command, b).size);
    return bytes;
  }

  // Of its tensors, without the pieces beside them that are made of them, or that they are made of.
  double wholesOf(size_t rank, uint32_t lane, uint32_t index) const {
    const rt::core::Command *command = programs[rank].at(lane, index);
    const rt::core::Entry &entry = programs[rank].told();
    if (!command || !entry.meets(*command)) return 0;
    const rt::core::Collective &collective = entry.collectives[command->collective];
    double bytes = 0;
    for (uint32_t tensor = 0; tensor < collective.tensorsOf(*command); ++tensor)
      bytes += double(entry.bufferOf(*command, collective.wholeOf(*command, tensor)).size);
    return bytes;
  }

  // The first of the ranks that meet there.
  int firstOf(size_t rank, uint32_t lane, uint32_t index) const {
    const rt::core::Command *command = programs[rank].at(lane, index);
    const rt::core::Entry &entry = programs[rank].told();
    if (!command || !entry.meets(*command) || entry.collectives[command->collective].axes.empty()) return 0;
    return entry.groupOf(entry.collectives[command->collective], int(rank)).front();
  }

  void analyse() {
    uint64_t origin = UINT64_MAX, end = 0;
    for (const auto &events : result.events)
      for (const RankEvent &event : events) {
        origin = std::min(origin, event.begin);
        end = std::max(end, event.end);
      }
    if (origin == UINT64_MAX) runtimeError("no call was recorded");
    Span whole{0, double(end - origin)};
    std::vector<machine::RankSpans> ranks;
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> places; // of each rank's meetings
    for (size_t number = 0; number < result.events.size(); ++number) {
      const std::vector<RankEvent> &events = result.events[number];
      machine::RankSpans &rank = ranks.emplace_back();
      std::vector<Flight> flights;
      std::vector<float> steps;
      places.emplace_back();
      for (const RankEvent &event : events) {
        Span span{double(event.begin - origin), double(event.end - origin)};
        if (event.kind == SPRIG_RT_PROFILE_CALL) {
          steps.push_back(float(span.length()));
        } else if (isMeeting(event.kind)) {
          rank.meetings.push_back(span);
          rank.firsts.push_back(firstOf(number, event.lane, event.command));
          places.back().emplace_back(event.lane, event.command);
          flights.push_back({span.begin, span.end, bytesOf(number, event.lane, event.command)});
        } else {
          rank.computing.push_back(span);
        }
      }
      result.inFlightBytes = std::max(result.inFlightBytes, mostInFlight(flights));
      result.stepNs.push_back(double(medianOf(std::move(steps))) / double(result.stepsPerCall));
      result.shares += machine::timeShares(whole, rank.computing, {}, {}, rank.meetings);
    }
    result.times = machine::ranksTime(whole, ranks);
    addMeetings(ranks, places);
  }

  void addMeetings(const std::vector<machine::RankSpans> &ranks,
                   const std::vector<std::vector<std::pair<uint32_t, uint32_t>>> &places) {
    size_t count = SIZE_MAX;
    for (const auto &each : places) count = std::min(count, each.size());
    std::map<std::pair<uint32_t, uint32_t>, std::pair<RanksProfile::Meeting, double>> rows;
    for (size_t i = 0; i < count; ++i) {
      std::map<int, double> lasts; // of each of the groups that met
      for (const machine::RankSpans &rank : ranks) {
        double &last = lasts[rank.firsts[i]];
        last = std::max(last, rank.meetings[i].begin);
      }
      auto &[row, times] = rows[places[0][i]];
      for (const machine::RankSpans &rank : ranks) {
        double last = lasts[rank.firsts[i]];
        row.ns += rank.meetings[i].length();
        row.waitNs += std::clamp(last - rank.meetings[i].begin, 0.0, rank.meetings[i].length());
        ++times;
      }
    }
    for (auto &[place, each] : rows) {
      auto &[row, times] = each;
      row.name = result.nameOf(0, place.first, place.second);
      row.bytes = wholesOf(0, place.first, place.second);
      row.ns /= times;
      row.waitNs /= times;
      result.meetings.push_back(row);
    }
  }

  RanksToProfile given;
  std::vector<uint32_t> entries; // of the runners
  std::vector<Program> programs; // by rank
  std::vector<PreparedCall> calls;
  RanksProfile result;
};

} // namespace

std::string RanksProfile::nameOf(size_t rank, uint32_t lane, uint32_t command) const {
  const auto &lanes = commandNames[rank];
  return lane < lanes.size() && command < lanes[lane].size() ? lanes[lane][command] : "another command";
}

RanksProfile profileRanks(RanksToProfile ranks, const Settings &settings) {
  return Session(std::move(ranks), settings).run();
}

} // namespace sprig::cli
