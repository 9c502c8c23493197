#include "runtime/device/cpu/CpuLane.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/device/Wire.h"
#include "runtime/device/cpu/CpuCode.h"
#include "runtime/exec/Pool.h"
#include "runtime/machine/Processors.h"

#include <cstring>

namespace sprig::rt::core {

bool CpuEvent::reached(EventNumber number) {
  std::lock_guard guard(lock);
  return passed >= number;
}

bool CpuEvent::synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock guard(lock);
  auto isPassed = [&] { return passed >= number; };
  if (limit) return changed.wait_for(guard, *limit, isPassed);
  changed.wait(guard, isPassed);
  return true;
}

// Under the lock, so that who waits cannot destroy the event while it is told.
void CpuEvent::pass(EventNumber number) {
  std::lock_guard guard(lock);
  passed = number;
  changed.notify_all();
}

CpuLane::~CpuLane() {
  {
    std::lock_guard guard(lock);
    closing = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
  if (pool) pool->forget(*this);
}

void CpuLane::record(DeviceEvent &event) {
  auto &own = static_cast<CpuEvent &>(event);
  enqueue(Recorded{&own, own.issue()});
}

void CpuLane::enqueue(Item item) {
  std::lock_guard guard(lock);
  waiting.push_back(std::move(item));
  if (!thread.joinable()) thread = std::thread([this] { threadLoop(); });
  changed.notify_all();
}

void CpuLane::threadLoop() {
  runAnywhere();
  FloatEnv floatEnv;
  for (;;) {
    Item next;
    {
      std::unique_lock guard(lock);
      changed.wait(guard, [this] { return closing || !waiting.empty(); });
      if (waiting.empty()) return;
      next = std::move(waiting.front());
      waiting.pop_front();
    }
    std::visit([this](const auto &item) { perform(item); }, next);
  }
}

void CpuLane::perform(const Launch &launch) {
  const Command &command = *launch.command;
  if (!launch.tag.control->isGoing() || command.tiles == 0) return;
  if (pool) pool->pinCaller();
  int64_t threads = pool ? SharedDispatch::worthyThreads(command, pool->threads()) : 1;
  // Of all threads of the pool: whichever come take slices.
  uint64_t shares = threads < 2 ? 1 : pool->threads(), needed = launch.kernel->scratch;
  scratchShare = (needed + 63) / 64 * 64;
  Status status = scratch.grow(needed > UINT64_MAX / 2 / shares ? UINT64_MAX : scratchShare * shares, "scratch");
  if (!status.isOk()) return launch.tag.control->fail(std::move(status));
  uint64_t begin = launch.tag.recording ? ticks() : 0;
  if (threads < 2)
    runTiles(static_cast<const CpuCode &>(*launch.code), command, launch.operands, {0, command.tiles}, scratch.data(),
             *launch.tag.control);
  else
    share(launch, threads);
  if (launch.tag.recording)
    launch.tag.recording->add(SPRIG_RT_PROFILE_DISPATCH, begin, launch.tag.lane, launch.tag.index);
}

void CpuLane::share(const Launch &launch, int64_t threads) {
  sharedLaunch.store(&launch, std::memory_order_relaxed);
  shared.open(*launch.command, launch.operands, threads);
  pool->publish(*this);
  calls.share(*pool, *launch.command);
  takeSlices(0);
  pool->waitUntil(slicesDone, [this] { return shared.isDone(); });
  pool->unpublish(*this);
}

// What a slice reads of the lane belongs to its dispatch, which is not over before it.
bool CpuLane::takeSlices(uint32_t participant) {
  auto run = [&](const Command &command, void *const *operands, int64_t begin, int64_t end) {
    const Launch &launch = *sharedLaunch.load(std::memory_order_relaxed);
    const CommandTag &tag = launch.tag;
    if (tag.control->isCancelled()) return;
    uint64_t began = tag.recording ? ticks() : 0;
    runTiles(static_cast<const CpuCode &>(*launch.code), command, operands, {begin, end},
             scratch.data() + participant * scratchShare, *tag.control);
    if (tag.recording) tag.recording->add(SPRIG_RT_PROFILE_SLICE, began, tag.lane, tag.index, participant, begin, end);
  };
  return shared.takeSlices(pool->takesFront(participant), run, [this] {
    slicesDone.fetch_add(1);
    slicesDone.notify_all();
  });
}

void CpuLane::perform(const Transfer &transfer) {
  if (!transfer.tag.control->isGoing()) return;
  uint64_t begin = transfer.tag.recording ? ticks() : 0;
  if (transfer.wire)
    transfer.wire->carry(transfer.target, transfer.source, transfer.bytes);
  else
    std::memmove(transfer.target, transfer.source, transfer.bytes);
  if (transfer.tag.recording)
    transfer.tag.recording->add(SPRIG_RT_PROFILE_COPY, begin, transfer.tag.lane, transfer.tag.index);
}

} // namespace sprig::rt::core
