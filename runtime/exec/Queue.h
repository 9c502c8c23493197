// Runs that were submitted: in order, on a thread of the queue's own or on the embedder's executor. One per context.
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
  bool ready() const { return ended.load(std::memory_order_acquire); }
  // Of an ended run: its code and message.
  Status result() const;
  void cancel();
  const std::vector<HeldTensor> &outputs() const { return outputTensors; }
  const Entry &entry() const { return package->program().entries[chosenEntry]; }
  uint32_t entryIndex() const { return chosenEntry; }

  // For the queue: runs it, unless it was cancelled.
  void runOn(Context &context);
  uint64_t call = 0; // its number in a profile; 0: not recorded

private:
  void end(Status status);

  std::shared_ptr<const Package> package;
  int32_t requestedEntry;
  uint32_t chosenEntry;
  std::vector<HeldTensor> inputTensors;
  std::vector<HeldTensor> outputTensors;
  std::vector<sprig_rt_tensor> inputViews;
  std::vector<sprig_rt_tensor> outputViews;

  std::mutex lock;
  std::condition_variable changed;
  std::atomic<bool> ended{false};
  std::atomic<bool> cancelled{false};
  Context *running = nullptr; // while it runs
  Code code = SPRIG_RT_OK;
  std::string message;
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
  static void executorTask(void *argument);

  Context &context;
  uint32_t limit;
  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Submission>> waiting;
  std::atomic<uint32_t> inFlight{0};
  bool draining = false; // an executor's task is queued or running
  bool closing = false;
  std::thread thread;
};

} // namespace sprig::rt::core

#endif
