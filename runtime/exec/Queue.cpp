#include "runtime/exec/Queue.h"

#include "runtime/format/Types.h"
#include "runtime/machine/Processors.h"

#include <system_error>

namespace sprig::rt::core {

// Two have memory on devices. How long to wait for the first before another look for a second: an event wakes who waits
// for it by means of its device's own, which no submission could wake, so a thread that waits for both has to look. It
// does while a single run is under way on a device with memory of its own, not where two are, nor on the processor.
static constexpr size_t kMostStarted = 2;
static constexpr std::chrono::microseconds kLookAgain(50);

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
    : package(std::move(package)), requestedEntry(entry), chosenEntry(choice.entry), isExact(choice.exact) {
  hold(inputs, inputTensors, inputViews);
  hold(outputs, outputTensors, outputViews);
}

static bool overlap(const TensorType &a, const sprig_rt_tensor &first, const TensorType &b,
                    const sprig_rt_tensor &second) {
  auto span = [](const TensorType &type, const sprig_rt_tensor &tensor) {
    auto *from = static_cast<const uint8_t *>(tensor.data), *to = from + type.bytes;
    for (size_t d = 0; tensor.strides && type.bytes && d < type.shape.size(); ++d) {
      int64_t reach = tensor.strides[d] * (type.shape[d] - 1) * int64_t(dtypeSize(type.dtype));
      (reach < 0 ? from : to) += reach;
    }
    return std::pair(from, to);
  };
  auto [from, to] = span(a, first);
  auto [otherFrom, otherTo] = span(b, second);
  return from < otherTo && otherFrom < to;
}

// Whether it reads or writes what the other one writes.
bool Submission::sharesArraysWith(const Submission &before) const {
  for (size_t o = 0; o < before.outputViews.size(); ++o) {
    auto sharesWith = [&](const std::vector<sprig_rt_tensor> &views, const std::vector<TensorType> &types) {
      for (size_t i = 0; i < views.size(); ++i)
        if (overlap(before.entry().outputs[o], before.outputViews[o], types[i], views[i])) return true;
      return false;
    };
    if (sharesWith(inputViews, entry().inputs) || sharesWith(outputViews, entry().outputs)) return true;
  }
  return false;
}

void Submission::follow(const Submission *last, const Submission *beforeLast) {
  if (!last || !isExact || !last->isExact || last->wasSeen() || sharesArraysWith(*last)) return;
  behind = beforeLast && beforeLast->wasSeen() ? Executable::Behind::beforeLast : Executable::Behind::memory;
}

bool Submission::mayJoin(const Context &context) const {
  return behind != Executable::Behind::all && mayStart(context) && context.sharesState(chosenEntry);
}

bool Submission::wait(std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock guard(lock);
  auto isEnded = [this] {
    bool is = ended.load(std::memory_order_relaxed);
    if (is) seen.store(true, std::memory_order_relaxed);
    return is;
  };
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
  setEnded(status.code(), status.message());
}

// Under the lock.
void Submission::setEnded(Code with, std::string_view because) {
  code = with;
  message = because;
  endedAt = std::chrono::steady_clock::now();
  ended.store(true, std::memory_order_release);
  changed.notify_all();
}

void Submission::cancel() {
  std::lock_guard guard(lock);
  if (ended.load(std::memory_order_relaxed)) return;
  cancelled.store(true);
  if (running) {
    // Under the lock the run cannot end, so this stops no later one.
    if (isHandedOver)
      running->cancel(started);
    else
      running->cancel();
    return;
  }
  setEnded(SPRIG_RT_CANCELLED, "the run was cancelled before it started");
}

bool Submission::startOn(Context &context, bool beside) {
  Status status;
  try {
    // Without the lock, for which waiting with a limit and cancelling wait.
    if (!beside) context.settleStreams();
    std::unique_lock guard(lock);
    if (ended.load(std::memory_order_relaxed)) return false;
    if (beside || mayStart(context)) {
      // Who cancels meanwhile waits, and then cancels a run that is there.
      status = context.start(chosenEntry, inputViews, outputViews, &cancelled, behind, started);
      isHandedOver = status.isOk();
      running = isHandedOver ? &context : nullptr;
      if (isHandedOver) return true;
    } else {
      running = &context;
      guard.unlock();
      context.setSubmittedCall(call);
      status = context.invoke(requestedEntry, inputViews, outputViews, &cancelled);
      started.info = context.lastRun();
    }
  } catch (const std::bad_alloc &) {
    status = Status(SPRIG_RT_OUT_OF_MEMORY, "no memory to run");
  }
  end(std::move(status));
  return false;
}

bool Submission::finishOn(Context &context, std::optional<std::chrono::nanoseconds> limit) {
  if (limit && !context.hasEnded(started, *limit)) return false;
  end(context.finish(started));
  return true;
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
    // On the processor alone each call waits for the one before anyway.
    if (context.hasMemoryOnDevices()) {
      fresh->number = last ? last->number + 1 : 1;
      fresh->follow(last.get(), beforeLast.get());
      beforeLast = std::exchange(last, fresh);
    }
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
  runAnywhere();
  for (;;) {
    {
      std::unique_lock guard(lock);
      changed.wait(guard, [this] { return closing || !waiting.empty(); });
      if (closing) return;
    }
    drain();
  }
}

// The next one, if it may begin now.
std::shared_ptr<Submission> Queue::takeNext(const std::deque<std::shared_ptr<Submission>> &started) {
  std::lock_guard guard(lock);
  if (waiting.empty() || started.size() == kMostStarted) return nullptr;
  waiting.front()->follows(lastNumber);
  if (!started.empty() && !waiting.front()->mayJoin(context)) return nullptr;
  std::shared_ptr<Submission> next = std::move(waiting.front());
  waiting.pop_front();
  return next;
}

void Queue::wasEnded() {
  std::lock_guard guard(lock);
  inFlight.fetch_sub(1, std::memory_order_release);
  changed.notify_all();
}

void Queue::drain() {
  std::deque<std::shared_ptr<Submission>> started;
  for (;;) {
    if (std::shared_ptr<Submission> next = takeNext(started)) {
      if (next->startOn(context, !started.empty())) {
        lastNumber = next->number;
        started.push_back(std::move(next));
      } else {
        wasEnded();
      }
      continue;
    }
    if (started.empty()) return;
    // One that is submitted meanwhile may join a single one.
    std::optional<std::chrono::nanoseconds> limit;
    if (started.size() < kMostStarted) limit = kLookAgain;
    if (!started.front()->finishOn(context, limit)) continue;
    started.pop_front();
    wasEnded();
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
