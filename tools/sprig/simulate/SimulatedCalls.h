// Calls of one entry one after the other, as one context of the runtime runs them: those that were submitted lie ready
// while it works, and each takes what one takes. Devices with memory of their own hide more: uploads of the next call.
// For sprig simulate --calls.
#pragma once
#include "lib/Machine/CallQueue.h"
#include "lib/Machine/Verdict.h"
#include "tools/sprig/Report.h"
#include <optional>
#include <vector>

namespace sprig::cli {

struct CallPlan {
  int64_t count = 1;
  bool readsEach = false; ///< each result before the next call, else the last one
  double frontEndNs = 0, returnNs = 0;
  /// A call alone, which is what it takes on the devices.
  bool isOne() const { return count == 1 && frontEndNs == 0 && returnNs == 0; }
};

struct SimulatedCalls {
  CallPlan plan;
  double callNs = 0;   ///< of one, on the devices
  double ns = 0;       ///< until the last result that is read is there
  double steadyNs = 0; ///< from the end of a call to that of the next one
  double callerNs = 0; ///< that the caller works in all
  double roomNs = 0;   ///< that it waits for room in the queue
  int64_t mostInFlight = 0;
  /// The first few.
  struct Call {
    machine::CallQueue::Call spans;
    std::optional<machine::Span> read;
  };
  std::vector<Call> first;

  /// Of what takes so much in each call.
  double inAll(double ns) const { return double(plan.count) * ns; }
};

/// Keeps the first `kept` calls.
SimulatedCalls playCalls(const CallPlan &plan, double callNs, int64_t kept);

/// What all calls' time went to, by what that of one went to: what the caller does beside no device goes to handing
/// over.
machine::TimeShares sharesOfAll(const SimulatedCalls &calls, const machine::TimeShares &one);

/// In four digits, large ones as whole numbers.
std::string figureOf(double value);
void printCalls(const SimulatedCalls &calls);
Json toJson(const SimulatedCalls &calls);

} // namespace sprig::cli
