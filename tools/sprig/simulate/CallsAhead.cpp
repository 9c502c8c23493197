#include "tools/sprig/simulate/CallsAhead.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {
namespace {

using machine::SimulatedCommand;
using machine::Span;

// The pace follows from how two calls lie beside each other, so it repeats after one or two of them; the last ones have
// none behind them.
constexpr int64_t kLongestCycle = 4, kLast = 3, kFewest = 24, kMost = 4096;
constexpr size_t kMostCommands = 1'000'000;

// Calls in a row as one program, with the waits of the runtime's LaneExecutable::start for calls whose results nobody
// has seen yet.
class Row {
public:
  Row(const PackageProgram &one, uint32_t caller, double frontEndNs)
      : one(one), lanes(one.program.lanes), caller(uint32_t(one.lanes.size())), frontEndNs(frontEndNs) {
    for (const machine::SimulatedLane &lane : lanes) made.lanes.push_back({lane.device, {}, lane.ofArrays});
    made.lanes.push_back({caller, {}});
  }

  void add(std::vector<std::vector<size_t>> &begins) {
    uint32_t base = made.events, number = calls++;
    made.events += perCall();
    work(caller, frontEndNs);
    record(caller, submitted(number));
    for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
      wait(lane, submitted(number));
      // The arrays of the call two before are read and written where this one's lie; arena and state are those of the
      // one before.
      if (isUpload(lane) && number > 1) waitForLanes(lane, number - 2);
      if (isPackages(lane) && number > 0) waitForLanes(lane, number - 1);
      if (isPackages(lane) && number > 1)
        for (auto results = uint32_t(one.firstResults); results < lanes.size(); ++results)
          wait(lane, ended(results, number - 2));
    }
    begins.emplace_back();
    for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
      std::vector<SimulatedCommand> &commands = made.lanes[lane].commands;
      begins.back().push_back(commands.size());
      for (SimulatedCommand command : lanes[lane].commands) {
        command.event += base;
        if (command.ended) *command.ended += base;
        commands.push_back(command);
      }
      if (lane >= one.firstResults) waitForLanes(lane, number);
      record(lane, ended(lane, number));
    }
  }

  machine::SimulatedProgram made;

private:
  bool isPackages(uint32_t lane) const { return lane < one.packageLanes; }
  bool isUpload(uint32_t lane) const { return !isPackages(lane) && lane < one.firstResults; }
  // A call's events: its program's, an end of each lane, and that it was submitted.
  uint32_t perCall() const { return one.program.events + uint32_t(lanes.size()) + 1; }
  uint32_t ended(uint32_t lane, uint32_t call) const { return call * perCall() + one.program.events + lane; }
  uint32_t submitted(uint32_t call) const { return (call + 1) * perCall() - 1; }
  void waitForLanes(uint32_t lane, uint32_t call) {
    for (uint32_t each = 0; each < one.packageLanes; ++each) wait(lane, ended(each, call));
  }
  void wait(uint32_t lane, uint32_t event) { add(lane, SimulatedCommand::Kind::wait).event = event; }
  void record(uint32_t lane, uint32_t event) { add(lane, SimulatedCommand::Kind::record).event = event; }
  void work(uint32_t lane, double ns) {
    if (ns > 0) add(lane, SimulatedCommand::Kind::work).ns = ns;
  }
  SimulatedCommand &add(uint32_t lane, SimulatedCommand::Kind kind) {
    SimulatedCommand &command = made.lanes[lane].commands.emplace_back();
    command.kind = kind;
    return command;
  }

  const PackageProgram &one;
  const std::vector<machine::SimulatedLane> &lanes;
  uint32_t caller;
  double frontEndNs;
  uint32_t calls = 0;
};

} // namespace

bool takesAhead(const machine::Topology &topology, const PackageProgram &program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [&](uint32_t node) { return !topology.nodes[node].hostMemory; });
}

CallsAhead::CallsAhead(const machine::Topology &topology, const PackageProgram &program, int64_t calls,
                       double frontEndNs)
    : topology(topology), program(program), calls(calls), frontEndNs(frontEndNs) {
  size_t commands = 1;
  for (const machine::SimulatedLane &lane : program.program.lanes) commands += lane.commands.size();
  int64_t most = std::clamp(int64_t(kMostCommands / commands), 2 * kFewest, kMost);
  for (int64_t count = kFewest;; count *= 2) {
    // What is left is whole cycles, of any length.
    constexpr int64_t kAnyCycle = 12;
    bool isAll = calls <= count + kAnyCycle;
    play(isAll ? calls : count + calls % kAnyCycle);
    if (isAll || findPace()) break;
    if (2 * count <= most) continue;
    uneven = true;
    int64_t last = int64_t(runs.size()) - 1 - kLast;
    cycle = 1;
    cycleNs = steady = (runs[size_t(last)].end - runs[size_t(last / 2)].end) / double(last - last / 2);
    break;
  }
  if (calls <= int64_t(runs.size())) steady = calls > 1 ? lastEnd() - runs[size_t(calls) - 2].end : lastEnd();
}

void CallsAhead::play(int64_t count) {
  // The caller's own time is beside that of all devices.
  machine::Topology withCaller = topology;
  uint32_t caller = withCaller.add({"caller"});
  Row row(program, caller, frontEndNs);
  begins.clear();
  for (int64_t call = 0; call < count; ++call) row.add(begins);
  many = std::move(row.made);
  played = machine::simulate(withCaller, many);
  runs.clear();
  for (int64_t call = 0; call < count; ++call) {
    double begin = HUGE_VAL, end = 0;
    for (size_t lane = 0; lane < program.lanes.size(); ++lane) {
      size_t first = begins[size_t(call)][lane], behind = first + program.program.lanes[lane].commands.size();
      for (size_t i = first; i < behind; ++i)
        if (many.lanes[lane].commands[i].kind <= SimulatedCommand::Kind::copy)
          begin = std::min(begin, played.commands[lane][i].begin);
      // The record of its end, behind the waits of a lane of results.
      while (many.lanes[lane].commands[behind].kind == SimulatedCommand::Kind::wait) ++behind;
      end = std::max(end, played.commands[lane][behind].end);
    }
    runs.push_back({std::min(begin, end), end});
  }
}

bool CallsAhead::findPace() {
  int64_t last = int64_t(runs.size()) - 1 - kLast;
  auto interval = [&](int64_t call) { return runs[size_t(call)].end - runs[size_t(call) - 1].end; };
  for (cycle = 1; cycle <= kLongestCycle; ++cycle) {
    bool repeats = true;
    for (int64_t call = last; call > last - 2 * cycle && repeats; --call)
      repeats = std::abs(interval(call) - interval(call - cycle)) <= 1e-9 * interval(call);
    if (!repeats) continue;
    cycleNs = runs[size_t(last)].end - runs[size_t(last - cycle)].end;
    steady = cycleNs / double(cycle);
    return true;
  }
  return false;
}

machine::Span CallsAhead::stretch() const {
  int64_t last = int64_t(runs.size()) - 1 - kLast;
  double end = runs[size_t(std::max<int64_t>(last, 0))].end;
  return {end - cycleNs, end};
}

machine::Span CallsAhead::run(int64_t call) const {
  int64_t count = int64_t(runs.size()), last = count - 1 - kLast;
  if (call < count && (count == calls || call <= last)) return runs[size_t(call)];
  int64_t like = call, cycles = 0;
  if (call >= calls - kLast) {
    like = call - (calls - count);
    cycles = (calls - count) / cycle;
  } else {
    cycles = (call - last + cycle - 1) / cycle;
    like = call - cycles * cycle;
  }
  const Span &run = runs[size_t(like)];
  return {run.begin + double(cycles) * cycleNs, run.end + double(cycles) * cycleNs};
}

std::vector<std::vector<Span>> CallsAhead::commandsOf(int64_t call) const {
  std::vector<std::vector<Span>> result;
  for (size_t lane = 0; lane < program.lanes.size(); ++lane) {
    auto first = played.commands[lane].begin() + ptrdiff_t(begins[size_t(call)][lane]);
    result.emplace_back(first, first + ptrdiff_t(program.program.lanes[lane].commands.size()));
  }
  return result;
}

std::vector<Span> CallsAhead::computing() const {
  std::vector<Span> spans;
  for (size_t node = 0; node < topology.nodes.size(); ++node)
    spans.insert(spans.end(), played.deviceBusy[node].begin(), played.deviceBusy[node].end());
  return spans;
}

std::vector<Span> CallsAhead::copies(bool fromStorage) const {
  std::vector<Span> spans;
  for (size_t lane = 0; lane < program.lanes.size(); ++lane)
    for (size_t i = 0; i < many.lanes[lane].commands.size(); ++i) {
      const SimulatedCommand &command = many.lanes[lane].commands[i];
      if (command.kind != SimulatedCommand::Kind::copy) continue;
      bool isStored = topology.nodes[command.from].kind == machine::NodeKind::storage;
      if (isStored == fromStorage) spans.push_back(played.commands[lane][i]);
    }
  return spans;
}

// Of what was played, and the stretch that repeats as often as it does.
machine::TimeShares CallsAhead::sum(const std::vector<Span> &computing, const std::vector<Span> &copying,
                                    const std::vector<Span> &loading) const {
  machine::TimeShares all = machine::timeShares({0, lastEnd()}, computing, copying, loading);
  machine::TimeShares one = machine::timeShares(stretch(), computing, copying, loading);
  for (double *part : {&one.ns, &one.computation, &one.copies, &one.data, &one.handOff, &one.communication})
    *part *= repeated();
  return all += one;
}

machine::TimeShares CallsAhead::shares() const { return sum(computing(), copies(false), copies(true)); }
double CallsAhead::copyNs() const {
  machine::TimeShares all = sum({}, copies(false), copies(true));
  return all.copies + all.data;
}
double CallsAhead::exposedCopyNs() const {
  machine::TimeShares all = shares();
  return all.copies + all.data;
}
double CallsAhead::devicesNs() const { return sum(runs, {}, {}).computation; }

double CallsAhead::waitNs(size_t lane) const {
  std::vector<Span> waits;
  for (size_t i = 0; i < many.lanes[lane].commands.size(); ++i)
    if (many.lanes[lane].commands[i].kind == SimulatedCommand::Kind::wait) waits.push_back(played.commands[lane][i]);
  return sum(waits, {}, {}).computation;
}

} // namespace sprig::cli
