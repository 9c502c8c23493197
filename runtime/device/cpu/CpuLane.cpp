#include "runtime/device/cpu/CpuLane.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/device/cpu/CpuCode.h"

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
  if (scratch.size() < launch.kernel->scratch || !scratch.data()) {
    Block larger;
    if (Status status = Block::make({}, launch.kernel->scratch, "scratch", larger); !status.isOk())
      return launch.tag.control->fail(std::move(status));
    scratch = std::move(larger);
  }
  uint64_t begin = launch.tag.recording ? ticks() : 0;
  sprig_rt_kernel_status status = {};
  sprig_rt_args args = {launch.operands, command.firstTile, command.firstTile + command.tiles, scratch.data(), &status};
  int32_t result = static_cast<const CpuCode &>(*launch.code).run(command.kernel, args);
  if (result != SPRIG_RT_KERNEL_OK) launch.tag.control->fail(command, status, result, 0);
  if (launch.tag.recording)
    launch.tag.recording->add(SPRIG_RT_PROFILE_DISPATCH, begin, launch.tag.lane, launch.tag.index);
}

void CpuLane::perform(const Transfer &transfer) {
  if (!transfer.tag.control->isGoing()) return;
  uint64_t begin = transfer.tag.recording ? ticks() : 0;
  std::memmove(transfer.target, transfer.source, transfer.bytes);
  if (transfer.tag.recording)
    transfer.tag.recording->add(SPRIG_RT_PROFILE_COPY, begin, transfer.tag.lane, transfer.tag.index);
}

} // namespace sprig::rt::core
