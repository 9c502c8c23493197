// The engine's queue on a clock that nobody has to wait for: what calls of known cost take, to the nanosecond.
// For `sprig bench async` and tests, which compare it with the timeline law and with the real queue. One host issues
// calls, one executor runs them in order, and issuing waits while `bound` calls are in flight, as Engine::push does.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>

namespace sprig::frontend {

class SimulatedQueue {
public:
  /// In any unit of time: what a call takes of the host, of the executor, and what reading its result takes of the
  /// host once it is there.
  struct Times {
    int64_t issue = 0, compute = 0, read = 0;
  };
  SimulatedQueue(Times times, int64_t bound) : times(times), bound(std::max<int64_t>(bound, 1)) {}

  /// The host records a call, waits for room and hands it over.
  void call() {
    host += times.issue;
    leaveDone();
    if (int64_t(inFlight.size()) >= bound) {
      waited += inFlight.front() - host;
      host = inFlight.front();
      leaveDone();
    }
    executor = std::max(executor, host) + times.compute;
    inFlight.push_back(executor);
    most = std::max(most, int64_t(inFlight.size()));
  }
  /// The host reads the last call's result.
  void read() {
    host = std::max(host, executor) + times.read;
    leaveDone();
  }

  int64_t now() const { return host; }
  int64_t mostInFlight() const { return most; }
  /// How long the host has waited for room.
  int64_t waitedForRoom() const { return waited; }

  /// The law for `calls` (at least one) that are issued one after the other and read once: t1 + t2 + (n - 1) max(t1,
  /// t2) + t3, which is t1 + n t2 + t3 where issuing is the quicker part.
  static int64_t law(Times times, int64_t calls) {
    return times.issue + times.compute + (calls - 1) * std::max(times.issue, times.compute) + times.read;
  }
  /// The same calls, each read before the next.
  static int64_t synchronousLaw(Times times, int64_t calls) {
    return calls * (times.issue + times.compute + times.read);
  }

private:
  void leaveDone() {
    while (!inFlight.empty() && inFlight.front() <= host) inFlight.pop_front();
  }

  Times times;
  int64_t bound, host = 0, executor = 0, most = 0, waited = 0;
  std::deque<int64_t> inFlight; ///< when each will be done
};

} // namespace sprig::frontend
