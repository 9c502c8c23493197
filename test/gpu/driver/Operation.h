// A unit of queued work, and the clock that says what happened before it. Clocks are vectors: one count for each lane
// (a stream, a chain of a graph, the host), in which operations are in order anyway.
#ifndef SPRIG_TEST_GPU_DRIVER_OPERATION_H
#define SPRIG_TEST_GPU_DRIVER_OPERATION_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sprig::cuda {

struct CUctx_st;

class Clock {
public:
  uint32_t at(uint32_t lane) const { return lane < times.size() ? times[lane] : 0; }
  void set(uint32_t lane, uint32_t time) {
    if (lane >= times.size()) times.resize(lane + 1);
    times[lane] = time;
  }
  void join(const Clock &other) {
    if (times.size() < other.times.size()) times.resize(other.times.size());
    for (size_t i = 0; i < other.times.size(); ++i) times[i] = std::max(times[i], other.times[i]);
  }

private:
  std::vector<uint32_t> times;
};

struct Lane {
  uint32_t index;
  uint32_t time = 0; // of its last operation that began
};

struct Operation;
using OperationRef = std::shared_ptr<Operation>;

struct Operation {
  enum class State { Queued, Running, Done };

  uint64_t number = 0;         // in the order of calls, from 1
  std::string name, where;     // "kernel gemm", "stream 2 of cuda:0"
  CUctx_st *context = nullptr; // whose errors it takes part in; none: the host's own
  std::shared_ptr<Lane> lane;
  std::function<void(const OperationRef &)> body; // none: a marker
  bool callsHost = false;                         // a host function, which only the worker's thread calls
  std::vector<OperationRef> after;                // until it is done
  std::shared_ptr<const Clock> host;              // what the host had waited for when it queued this

  State state = State::Queued;
  enum class HostWait { None, Asked, Dropped }; // asked for, and left out by configuration
  HostWait hostWait = HostWait::None;
  Clock clock;       // from when it runs
  uint32_t time = 0; // its own count in its lane
  double queued = 0; // when: virtual nanoseconds, as far as the host had waited for others
  double ended = 0;
  double cost = 0; // that its body takes of them

  // The scheduler's own.
  unsigned waiting = 0;
  std::vector<OperationRef> dependents;

  bool done() const { return state == State::Done; }
  /// Whether this happened before everything that `later` knows of.
  bool happenedBefore(const Clock &later) const { return later.at(lane->index) >= time; }
  std::string title() const { return "'" + name + "' (" + where + ", operation " + std::to_string(number) + ")"; }
};

} // namespace sprig::cuda

#endif
