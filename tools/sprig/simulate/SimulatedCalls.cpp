#include "tools/sprig/simulate/SimulatedCalls.h"
#include <nlohmann/json.hpp>
#include <cmath>
#include <iostream>

namespace sprig::cli {

std::string figureOf(double value) {
  return value < 1e4 ? formatDouble(value, 4) : formatDouble(std::round(value), 15);
}

SimulatedCalls playCalls(const CallPlan &plan, double callNs, int64_t kept) {
  SimulatedCalls calls;
  calls.plan = plan;
  calls.callNs = callNs;
  machine::CallQueue queue({plan.frontEndNs, callNs, plan.returnNs}, machine::CallQueue::kBound);
  double before = 0, last = 0; // when calls ended
  int64_t reads = 0;
  for (int64_t i = 0; i < plan.count; ++i) {
    SimulatedCalls::Call call{queue.call(), std::nullopt};
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
  return calls;
}

machine::TimeShares sharesOfAll(const SimulatedCalls &calls, const machine::TimeShares &one) {
  machine::TimeShares all;
  all.ns = calls.ns;
  all.computation = calls.inAll(one.computation);
  all.copies = calls.inAll(one.copies);
  all.data = calls.inAll(one.data);
  all.handOff = std::max(0.0, all.ns - all.computation - all.copies - all.data);
  return all;
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
  add("devices", calls.callNs, calls.inAll(calls.callNs));
  add("return", plan.returnNs, calls.callerNs - front);
  table.print();
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
          {"front_end_ns", calls.plan.frontEndNs},
          {"return_ns", calls.plan.returnNs},
          {"total_ns", calls.ns},
          {"per_call_ns", calls.ns / double(calls.plan.count)},
          {"steady_ns", calls.steadyNs},
          {"caller_busy_ns", calls.callerNs},
          {"caller_busy_share", calls.ns > 0 ? calls.callerNs / calls.ns : 0},
          {"waits_for_room_ns", calls.roomNs},
          {"most_in_flight", calls.mostInFlight},
          {"first", first}};
}

} // namespace sprig::cli
