// Calls of one entry one after the other, as one context of the runtime runs them: those that were submitted lie ready
// while it works. Each takes what one takes, or they lie beside each other (CallsAhead.h).
// For sprig simulate --calls.
#pragma once
#include "lib/Machine/CallQueue.h"
#include "lib/Machine/Verdict.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/simulate/CallsAhead.h"
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
  bool ahead = false;   ///< calls are handed over while the one before is under way
  double callNs = 0;    ///< of one alone, on the devices
  double devicesNs = 0; ///< while any is under way there
  double ns = 0;        ///< until the last result that is read is there
  double steadyNs = 0;  ///< from the end of a call to that of the next one
  double callerNs = 0;  ///< that the caller works in all
  double roomNs = 0;    ///< that it waits for room in the queue
  int64_t mostInFlight = 0;
  double copyNs = 0, exposedCopyNs = 0; ///< of all, as machine::Simulation has them of one
  machine::TimeShares shares;           ///< of all; what the caller does beside no device goes to handing over
  std::vector<double> waitNs;           ///< of all, by lane
  /// The first few.
  struct Call {
    machine::CallQueue::Call spans;
    std::optional<machine::Span> read;
    std::vector<std::vector<machine::Span>> commands; ///< of each lane
  };
  std::vector<Call> first;
  /// Of the calls that were played, those first ones among them.
  std::vector<std::vector<machine::Span>> deviceBusy, linkBusy; ///< by node; by link that is used

  /// Of what takes so much in each call.
  double inAll(double ns) const { return double(plan.count) * ns; }
};

/// Keeps the first `kept` calls. `one` is a call alone.
SimulatedCalls playCalls(const CallPlan &plan, const machine::Topology &topology, const PackageProgram &program,
                         const machine::Simulation &one, int64_t kept);

/// In four digits, large ones as whole numbers.
std::string figureOf(double value);
void printCalls(const SimulatedCalls &calls);
Json toJson(const SimulatedCalls &calls);

} // namespace sprig::cli
