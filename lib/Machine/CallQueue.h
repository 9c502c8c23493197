// Calls one after the other through a context's queue, on a clock that nobody has to wait for: what calls of known cost
// take, to the nanosecond where times are whole ones. One caller issues them, one executor runs them in order and never
// two at once, and issuing waits while `bound` calls are in flight: as runtime/exec/Queue does, and the engine.
// For `sprig simulate --calls`, `sprig bench async` and tests, which compare it with the timeline law and with the real
// queue.
#pragma once
#include "lib/Machine/Simulator.h"
#include <algorithm>
#include <cstdint>
#include <deque>

namespace sprig::machine {

/// In any unit of time: what a call takes of the caller, of the executor, and what reading its result takes of the
/// caller once it is there.
struct CallTimes {
  double issue = 0, compute = 0, read = 0;
};

class CallQueue {
public:
  static constexpr int64_t kBound = 64; ///< that of the runtime's queue
  CallQueue(CallTimes times, int64_t bound) : times(times), bound(std::max<int64_t>(bound, 1)) {}

  struct Call {
    Span issue; ///< of the caller; it may have to wait for room behind it
    Span run;   ///< of the executor
  };
  /// The caller makes a call, waits for room and hands it over.
  Call call() {
    return call([this] {
      double begin = std::max(executor, caller);
      return Span{begin, begin + times.compute};
    });
  }
  /// The same where what runs calls is not of known cost each: `run` tells when this one does.
  template <typename Run> Call call(Run run) {
    Call made;
    made.issue = {caller, caller + times.issue};
    caller = made.issue.end;
    leaveDone();
    if (int64_t(inFlight.size()) >= bound) {
      waited += inFlight.front() - caller;
      caller = inFlight.front();
      leaveDone();
    }
    made.run = run();
    executor = made.run.end;
    inFlight.push_back(executor);
    most = std::max(most, int64_t(inFlight.size()));
    return made;
  }
  /// The caller reads the last call's result.
  Span read() {
    double begin = std::max(caller, executor);
    caller = begin + times.read;
    leaveDone();
    return {begin, caller};
  }

  double now() const { return caller; }
  int64_t mostInFlight() const { return most; }
  /// How long the caller has waited for room.
  double waitedForRoom() const { return waited; }

  /// The law for `calls` (at least one) that are issued one after the other and read once: t1 + t2 + (n - 1) max(t1,
  /// t2) + t3, which is t1 + n t2 + t3 where issuing is the quicker part.
  static double law(CallTimes times, int64_t calls) {
    return times.issue + times.compute + double(calls - 1) * std::max(times.issue, times.compute) + times.read;
  }
  /// The same calls, each read before the next.
  static double synchronousLaw(CallTimes times, int64_t calls) {
    return double(calls) * (times.issue + times.compute + times.read);
  }

private:
  void leaveDone() {
    while (!inFlight.empty() && inFlight.front() <= caller) inFlight.pop_front();
  }

  CallTimes times;
  int64_t bound, most = 0;
  double caller = 0, executor = 0, waited = 0;
  std::deque<double> inFlight; ///< when each will be done
};

} // namespace sprig::machine
