#include "runtime/exec/Queue.h"

#include <system_error>

namespace sprig::rt::core {

HeldTensor::HeldTensor(const sprig_rt_tensor &tensor)
    : shape(tensor.shape, tensor.shape + tensor.rank),
      strides(tensor.strides ? std::vector<int64_t>(tensor.strides, tensor.strides + tensor.rank)
                             : std::vector<int64_t>()),
      view(tensor) {
  // Moving a vector keeps its elements where they are.
  view.shape = shape.data();
  view.strides = tensor.strides ? strides.data() : nullptr;
}

static void hold(Context::Tensors tensors, std::vector<HeldTensor> &held, std::vector<sprig_rt_tensor> &views) {
  held.reserve(tensors.size());
  for (const sprig_rt_tensor &tensor : tensors) views.push_back(held.emplace_back(tensor).view);
}

Submission::Submission(std::shared_ptr<const Package> package, int32_t entry, const Choice &choice,
                       Context::Tensors inputs, Context::Tensors outputs)
    : package(std::move(package)), requestedEntry(entry), chosenEntry(choice.entry) {
  hold(inputs, inputTensors, inputViews);
  hold(outputs, outputTensors, outputViews);
}

bool Submission::wait(std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock guard(lock);
  auto isEnded = [this] { return ended.load(std::memory_order_relaxed); };
  if (!limit) {
    changed.wait(guard, isEnded);
    return true;
  }
  // A limit beyond any machine's life would overflow the clock.
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  return changed.wait_until(guard, std::chrono::steady_clock::now() + std::min(*limit, longest), isEnded);
}

Status Submission::result() const { return code == SPRIG_RT_OK ? Status() : Status(code, message); }

void Submission::end(Status status) {
  std::lock_guard guard(lock);
  running = nullptr;
  code = status.code();
  message = status.message();
  ended.store(true, std::memory_order_release);
  changed.notify_all();
}

void Submission::cancel() {
  std::lock_guard guard(lock);
  if (ended.load(std::memory_order_relaxed)) return;
  cancelled.store(true);
  if (running) {
    // Under the lock the run cannot end, so this stops no later one.
    running->cancel();
    return;
  }
  code = SPRIG_RT_CANCELLED;
  message = "the run was cancelled before it started";
  ended.store(true, std::memory_order_release);
  changed.notify_all();
}

void Submission::runOn(Context &context) {
  {
    std::lock_guard guard(lock);
    if (ended.load(std::memory_order_relaxed)) return;
    running = &context;
  }
  Status status;
  try {
    context.setSubmittedCall(call);
    status = context.invoke(requestedEntry, inputViews, outputViews, &cancelled);
  } catch (const std::bad_alloc &) {
    status = Status(SPRIG_RT_OUT_OF_MEMORY, "no memory to run");
  }
  end(std::move(status));
}

Queue::~Queue() {
  waitIdle();
  {
    std::unique_lock guard(lock);
    closing = true;
    changed.notify_all();
    changed.wait(guard, [this] { return !draining; });
  }
  if (thread.joinable()) thread.join();
}

Status Queue::submit(int32_t entry, Context::Tensors inputs, Context::Tensors outputs,
                     std::shared_ptr<Submission> &submission) {
  Target &target = context.profileTarget();
  if (!target.isRecorded()) return enqueue(entry, inputs, outputs, 0, submission);
  TargetUse use(target);
  if (!use.profile()) return enqueue(entry, inputs, outputs, 0, submission);
  Recording recording{use.profile(), use.profile()->newCall(), target.number()};
  uint64_t begin = ticks();
  Status status = enqueue(entry, inputs, outputs, recording.call, submission);
  if (submission) recording.entry = submission->entryIndex();
  recording.add(SPRIG_RT_PROFILE_SUBMIT, begin);
  return status;
}

Status Queue::enqueue(int32_t entry, Context::Tensors inputs, Context::Tensors outputs, uint64_t call,
                      std::shared_ptr<Submission> &submission) {
  Choice choice;
  SPRIG_RETURN_IF_ERROR(context.check(entry, inputs, outputs, choice));
  auto fresh = std::make_shared<Submission>(context.sharedPackage(), entry, choice, inputs, outputs);
  fresh->call = call;
  {
    std::unique_lock guard(lock);
    SPRIG_RETURN_IF_ERROR(start());
    changed.wait(guard, [this] { return inFlight.load(std::memory_order_relaxed) < limit; });
    waiting.push_back(fresh);
    inFlight.fetch_add(1);
    changed.notify_all();
    const sprig_rt_executor &executor = context.threads().executor();
    if (executor.execute && !draining) {
      draining = true;
      guard.unlock();
      executor.execute(executor.user, &Queue::executorTask, this);
    }
  }
  submission = std::move(fresh);
  return {};
}

void Queue::waitUntilIdle() {
  std::unique_lock guard(lock);
  changed.wait(guard, [this] { return inFlight.load(std::memory_order_acquire) == 0; });
}

// Many contexts never submit: the thread starts with the first submission.
Status Queue::start() {
  if (thread.joinable() || context.threads().executor().execute) return {};
  try {
    thread = std::thread([this] { threadLoop(); });
  } catch (const std::system_error &error) {
    return {SPRIG_RT_OUT_OF_MEMORY, concat("cannot start the queue's thread: ", error.what())};
  }
  return {};
}

void Queue::threadLoop() {
  for (;;) {
    {
      std::unique_lock guard(lock);
      changed.wait(guard, [this] { return closing || !waiting.empty(); });
      if (closing) return;
    }
    drain();
  }
}

void Queue::drain() {
  for (;;) {
    std::shared_ptr<Submission> next;
    {
      std::lock_guard guard(lock);
      if (waiting.empty()) return;
      next = std::move(waiting.front());
      waiting.pop_front();
    }
    next->runOn(context);
    std::lock_guard guard(lock);
    inFlight.fetch_sub(1, std::memory_order_release);
    changed.notify_all();
  }
}

void Queue::executorTask(void *argument) {
  Queue &queue = *static_cast<Queue *>(argument);
  for (;;) {
    queue.drain();
    std::lock_guard guard(queue.lock);
    if (!queue.waiting.empty()) continue;
    queue.draining = false;
    queue.changed.notify_all();
    return;
  }
}

} // namespace sprig::rt::core
