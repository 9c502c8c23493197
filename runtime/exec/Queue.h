// Runs that were submitted: in order, on a thread of the queue's own or on the embedder's executor. One per context.
// Where devices have memory of their own, a run is handed over while the one before it is under way, so that its inputs
// come beside that one's arithmetic.
#ifndef SPRIG_RUNTIME_EXEC_QUEUE_H
#define SPRIG_RUNTIME_EXEC_QUEUE_H

#include "runtime/exec/Context.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>
#include <thread>

namespace sprig::rt::core {

// A caller's tensor with copies of its shape and strides.
struct HeldTensor {
  explicit HeldTensor(const sprig_rt_tensor &tensor);
  HeldTensor(HeldTensor &&) = default;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  sprig_rt_tensor view;
};

// One submitted run; shared by the queue and the caller's future.
class Submission {
public:
  Submission(std::shared_ptr<const Package> package, int32_t entry, const Choice &choice, Context::Tensors inputs,
             Context::Tensors outputs);

  // Waits for the end; no limit when empty. False: it passed first.
  bool wait(std::optional<std::chrono::nanoseconds> limit);
  bool ready() const {
    bool is = ended.load(std::memory_order_acquire);
    if (is) seen.store(true, std::memory_order_relaxed);
    return is;
  }
  // Of an ended run: its code and message.
  Status result() const;
  void cancel();
  const std::vector<HeldTensor> &outputs() const { return outputTensors; }
  const Entry &entry() const { return package->program().entries[chosenEntry]; }
  uint32_t entryIndex() const { return chosenEntry; }
  const Package &of() const { return *package; }

  // For the queue: what it may run beside. Of the submissions before it, the last first; null: of none.
  void follow(const Submission *last, const Submission *beforeLast);
  // The one that was started last has this number: where it is another than that which was reckoned with, everything is
  // waited for.
  void follows(uint64_t started) {
    if (started + 1 != number) behind = Executable::Behind::all;
  }
  // Whether it may be handed over while the one before is under way.
  bool mayJoin(const Context &context) const;
  bool mayStart(const Context &context) const { return isExact && context.takesAhead(); }
  // Begins it, unless it was cancelled. False: it has ended, which it has where it is not handed over but run. Beside
  // another one it is handed over.
  bool startOn(Context &context, bool beside);
  // False: the limit passed first.
  bool finishOn(Context &context, std::optional<std::chrono::nanoseconds> limit);
  uint64_t call = 0;   // its number in a profile; 0: not recorded
  uint64_t number = 0; // in the queue
  // Of an ended run; without any where it was left out.
  const RunInfo &info() const { return started.info; }
  int64_t endedNs() const { return endedAt.time_since_epoch() / std::chrono::nanoseconds(1); }

private:
  void end(Status status);
  void setEnded(Code code, std::string_view message);
  bool sharesArraysWith(const Submission &before) const;
  // Whether its end was seen by who submits.
  bool wasSeen() const { return seen.load(std::memory_order_relaxed); }

  std::shared_ptr<const Package> package;
  int32_t requestedEntry;
  uint32_t chosenEntry;
  bool isExact;
  Executable::Behind behind = Executable::Behind::all;
  std::vector<HeldTensor> inputTensors;
  std::vector<HeldTensor> outputTensors;
  std::vector<sprig_rt_tensor> inputViews;
  std::vector<sprig_rt_tensor> outputViews;

  std::mutex lock;
  std::condition_variable changed;
  std::atomic<bool> ended{false};
  mutable std::atomic<bool> seen{false};
  std::atomic<bool> cancelled{false};
  Context *running = nullptr; // while it runs
  bool isHandedOver = false;  // and goes on by itself
  Context::Started started;
  Code code = SPRIG_RT_OK;
  std::string message;
  std::chrono::steady_clock::time_point endedAt;
};

class Queue {
public:
  Queue(Context &context, uint32_t limit) : context(context), limit(limit ? limit : 64) {}
  ~Queue();

  // Waits while `limit` runs are in flight.
  Status submit(int32_t entry, Context::Tensors inputs, Context::Tensors outputs,
                std::shared_ptr<Submission> &submission);
  // Returns when everything submitted has ended; no lock when there is nothing.
  void waitIdle() {
    if (inFlight.load(std::memory_order_acquire) != 0) waitUntilIdle();
  }

private:
  Status enqueue(int32_t entry, Context::Tensors inputs, Context::Tensors outputs, uint64_t call,
                 std::shared_ptr<Submission> &submission);
  Status start();
  void waitUntilIdle();
  void threadLoop();
  void drain();
  std::shared_ptr<Submission> takeNext(const std::deque<std::shared_ptr<Submission>> &started);
  void wasEnded();
  static void executorTask(void *argument);

  Context &context;
  uint32_t limit;
  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Submission>> waiting;
  std::shared_ptr<Submission> last, beforeLast; // submitted
  uint64_t lastNumber = 0;                      // of what was started last; of the thread that drains
  std::atomic<uint32_t> inFlight{0};
  bool draining = false; // an executor's task is queued or running
  bool closing = false;
  std::thread thread;
};

} // namespace sprig::rt::core

#endif
