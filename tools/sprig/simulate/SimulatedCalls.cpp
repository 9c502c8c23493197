#include "tools/sprig/simulate/SimulatedCalls.h"
#include <nlohmann/json.hpp>
#include <cmath>
#include <iostream>

namespace sprig::cli {

std::string figureOf(double value) {
  return value < 1e4 ? formatDouble(value, 4) : formatDouble(std::round(value), 15);
}

namespace {

using machine::Span;

bool isWait(const machine::SimulatedCommand &command) { return command.kind == machine::SimulatedCommand::Kind::wait; }

// What one call is, as often as it is called.
class CallsInTurn {
public:
  CallsInTurn(const machine::Topology &topology, const PackageProgram &program, const machine::Simulation &one,
              SimulatedCalls &calls)
      : topology(topology), program(program), one(one), calls(calls) {}

  void reckon() {
    calls.devicesNs = calls.inAll(one.ns);
    calls.copyNs = calls.inAll(one.copyNs);
    calls.exposedCopyNs = calls.inAll(one.exposedCopyNs);
    calls.shares = shares();
    const auto &lanes = program.program.lanes;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      double waits = 0;
      for (size_t i = 0; i < lanes[lane].commands.size(); ++i)
        if (isWait(lanes[lane].commands[i])) waits += one.commands[lane][i].length();
      calls.waitNs.push_back(calls.inAll(waits));
    }
    calls.deviceBusy.resize(one.deviceBusy.size());
    calls.linkBusy.resize(one.links.size());
    for (SimulatedCalls::Call &call : calls.first) place(call);
  }

private:
  // In the time of all calls.
  void place(SimulatedCalls::Call &call) {
    auto during = [&](const std::vector<Span> &spans, std::vector<Span> &all) {
      for (const Span &span : spans)
        all.push_back({call.spans.run.begin + span.begin, call.spans.run.begin + span.end});
    };
    for (const std::vector<Span> &lane : one.commands) during(lane, call.commands.emplace_back());
    for (size_t node = 0; node < one.deviceBusy.size(); ++node) during(one.deviceBusy[node], calls.deviceBusy[node]);
    for (size_t link = 0; link < one.links.size(); ++link) during(one.links[link].busy, calls.linkBusy[link]);
  }

  machine::TimeShares shares() const {
    std::vector<Span> computing, copying, loading;
    for (const auto &busy : one.deviceBusy) computing.insert(computing.end(), busy.begin(), busy.end());
    const auto &lanes = program.program.lanes;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      for (size_t i = 0; i < lanes[lane].commands.size(); ++i) {
        const machine::SimulatedCommand &command = lanes[lane].commands[i];
        if (command.kind != machine::SimulatedCommand::Kind::copy) continue;
        bool isStored = topology.nodes[command.from].kind == machine::NodeKind::storage;
        (isStored ? loading : copying).push_back(one.commands[lane][i]);
      }
    machine::TimeShares all =
        machine::timeShares({0, one.ns}, std::move(computing), std::move(copying), std::move(loading));
    for (double *part : {&all.computation, &all.copies, &all.data}) *part = calls.inAll(*part);
    return all;
  }

  const machine::Topology &topology;
  const PackageProgram &program;
  const machine::Simulation &one;
  SimulatedCalls &calls;
};

void reckon(const CallsAhead &ahead, const PackageProgram &program, SimulatedCalls &calls) {
  calls.devicesNs = ahead.devicesNs();
  calls.copyNs = ahead.copyNs();
  calls.exposedCopyNs = ahead.exposedCopyNs();
  calls.shares = ahead.shares();
  calls.steadyNs = ahead.steadyNs();
  for (size_t lane = 0; lane < program.lanes.size(); ++lane) calls.waitNs.push_back(ahead.waitNs(lane));
  for (size_t i = 0; i < calls.first.size(); ++i) calls.first[i].commands = ahead.commandsOf(int64_t(i));
  calls.deviceBusy = ahead.simulation().deviceBusy;
  for (const machine::LinkUse &use : ahead.simulation().links) calls.linkBusy.push_back(use.busy);
  if (ahead.isUneven())
    warn("the pace of these calls does not repeat within those that were played: their mean was taken");
}

} // namespace

SimulatedCalls playCalls(const CallPlan &plan, const machine::Topology &topology, const PackageProgram &program,
                         const machine::Simulation &one, int64_t kept) {
  SimulatedCalls calls;
  calls.plan = plan;
  calls.callNs = one.ns;
  calls.ahead = plan.count > 1 && !plan.readsEach && takesAhead(topology, program);
  std::optional<CallsAhead> ahead;
  if (calls.ahead) ahead.emplace(topology, program, plan.count, plan.frontEndNs);
  machine::CallQueue queue({plan.frontEndNs, one.ns, plan.returnNs}, machine::CallQueue::kBound);
  double before = 0, last = 0; // when calls ended
  int64_t reads = 0;
  for (int64_t i = 0; i < plan.count; ++i) {
    SimulatedCalls::Call call{ahead ? queue.call([&] { return ahead->run(i); }) : queue.call(), std::nullopt, {}};
    if (plan.readsEach || i + 1 == plan.count) {
      call.read = queue.read();
      ++reads;
    }
    before = last;
    last = plan.readsEach ? call.read->end : call.spans.run.end;
    if (i < kept) calls.first.push_back(call);
  }
  calls.ns = queue.now();
  calls.steadyNs = plan.count > 1 ? last - before : calls.ns;
  calls.callerNs = double(plan.count) * plan.frontEndNs + double(reads) * plan.returnNs;
  calls.roomNs = queue.waitedForRoom();
  calls.mostInFlight = queue.mostInFlight();
  if (ahead)
    reckon(*ahead, program, calls);
  else
    CallsInTurn(topology, program, one, calls).reckon();
  machine::TimeShares &shares = calls.shares;
  shares.ns = calls.ns;
  shares.handOff = std::max(0.0, shares.ns - shares.computation - shares.communication - shares.copies - shares.data);
  return calls;
}

void printCalls(const SimulatedCalls &calls) {
  const CallPlan &plan = calls.plan;
  std::cout << plan.count << (plan.count == 1 ? " call, " : " calls, ")
            << (plan.readsEach    ? "each read before the next"
                : plan.count == 1 ? "read"
                                  : "of which the last is read")
            << ": " << formatNanoseconds(calls.ns);
  if (plan.count > 1)
    std::cout << ", " << formatNanoseconds(calls.ns / double(plan.count)) << " each; from the second on one ends every "
              << formatNanoseconds(calls.steadyNs) << " (" << figureOf(1e9 / calls.steadyNs) << " calls/s)";
  std::cout << "\n\n";
  Table table({"part", "of a call us", "in all us", "busy %"});
  auto add = [&](const char *part, double one, double all) {
    table.add(
        {part, figureOf(one / 1e3), figureOf(all / 1e3), calls.ns > 0 ? formatDouble(100 * all / calls.ns, 3) : ""});
  };
  double front = calls.inAll(plan.frontEndNs);
  add("front-end", plan.frontEndNs, front);
  add("devices", calls.callNs, calls.devicesNs);
  add("return", plan.returnNs, calls.callerNs - front);
  table.print();
  if (calls.ahead) std::cout << "inputs of the next call come beside this one's commands, into second copies\n";
  std::cout << '\n';
}

Json toJson(const SimulatedCalls &calls) {
  auto span = [](const machine::Span &span) { return Json{{"begin_ns", span.begin}, {"end_ns", span.end}}; };
  Json first = Json::array();
  for (const SimulatedCalls::Call &call : calls.first)
    first.push_back({{"front_end", span(call.spans.issue)},
                     {"devices", span(call.spans.run)},
                     {"return", call.read ? span(*call.read) : Json()}});
  return {{"count", calls.plan.count},
          {"read", calls.plan.readsEach ? "each" : "last"},
          {"ahead", calls.ahead},
          {"front_end_ns", calls.plan.frontEndNs},
          {"return_ns", calls.plan.returnNs},
          {"total_ns", calls.ns},
          {"per_call_ns", calls.ns / double(calls.plan.count)},
          {"steady_ns", calls.steadyNs},
          {"devices_ns", calls.devicesNs},
          {"caller_busy_ns", calls.callerNs},
          {"caller_busy_share", calls.ns > 0 ? calls.callerNs / calls.ns : 0},
          {"waits_for_room_ns", calls.roomNs},
          {"most_in_flight", calls.mostInFlight},
          {"first", first}};
}

} // namespace sprig::cli
