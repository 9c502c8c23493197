// When queued operations are done: at once, as late as allowed, or at random, but never before what they wait for.
// Whoever calls holds the driver's lock; host functions run on a thread of their own without it, as the real driver's
// do.
#ifndef SPRIG_TEST_GPU_DRIVER_SCHEDULER_H
#define SPRIG_TEST_GPU_DRIVER_SCHEDULER_H

#include "test/gpu/driver/Config.h"
#include "test/gpu/driver/Operation.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace sprig::cuda {

class Scheduler {
public:
  Scheduler(Order order, uint64_t seed, std::mutex &mutex);
  ~Scheduler(); // with the lock not held

  std::shared_ptr<Lane> createLane();
  /// Queues it behind `after`; those that are done or null do not hold it up, but happen before it.
  OperationRef add(OperationRef operation);
  /// The host waits for it: it is done on return, and before all that the host does from now on.
  void wait(const OperationRef &operation);
  /// Everything that is queued is done on return.
  void waitAll();
  /// Somebody asks whether it is done. Each time one thing happens that it waits for, so that asking ends.
  bool poll(const OperationRef &operation);
  /// Does operations as a part of one that is being done: they come after what it does, and what comes after it comes
  /// after them. Each waits for earlier ones of the list at most.
  void runWithin(const OperationRef &whole, const std::vector<OperationRef> &operations);
  /// After each call: what the order wants to be done by now.
  void progress();

  /// The host does something itself, after all it has waited for: an operation that is done.
  OperationRef hostOperation(std::string name);
  const Clock &hostClock() const { return *host; }
  /// When the last operation that is done ended, in virtual nanoseconds from the start; what the host does takes none.
  double lastEnd() const { return latest; }
  /// Whether the calling thread is inside of a host function.
  bool insideHostFunction() const;

private:
  void run(const OperationRef &operation);
  void require(const OperationRef &operation);
  OperationRef nextOf(const OperationRef &operation);
  void begin(Operation &operation);
  void finish(const OperationRef &operation);
  void callHost(const OperationRef &operation);
  void joinHost(const Clock &clock);
  void work();

  const Order order;
  std::mutex &mutex;
  std::condition_variable changed;
  std::mt19937_64 random;
  uint64_t numbers = 0, calls = 0;
  uint32_t lanes = 0;
  std::map<uint64_t, OperationRef> ready; // waits for nothing more; by number
  std::map<uint64_t, OperationRef> queued;
  std::map<uint64_t, OperationRef> hostCalls; // queued host functions
  std::shared_ptr<Lane> hostLane;
  std::shared_ptr<const Clock> host;
  double latest = 0, seen = 0; // ends: of all operations, and of those that the host has waited for

  std::deque<OperationRef> urgent; // host functions that somebody waits for
  bool stopping = false;
  std::thread worker; // from the first host function on
};

} // namespace sprig::cuda

#endif
