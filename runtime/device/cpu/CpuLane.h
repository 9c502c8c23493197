// Lanes of the processor beside those of other devices: a queue of commands and a thread that does them one by one, the
// tiles of a large dispatch with the help of a pool.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPULANE_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPULANE_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/SharedDispatch.h"
#include "runtime/exec/Helped.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>

namespace sprig::rt::core {

class CpuEvent final : public DeviceEvent {
public:
  bool reached(EventNumber number) override;
  bool synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) override;
  EventNumber issue() { return ++issued; }
  void pass(EventNumber number);

private:
  std::mutex lock;
  std::condition_variable changed;
  EventNumber passed = 0;
};

class CpuLane final : public DeviceLane, public Helped {
public:
  explicit CpuLane(Pool *helpers) : pool(helpers) {}
  ~CpuLane() override;
  void dispatch(const Launch &launch) override { enqueue(launch); }
  void copy(const Transfer &transfer) override { enqueue(transfer); }
  void record(DeviceEvent &event) override;
  void wait(DeviceEvent &event) override { enqueue(Awaited{&event, event.last()}); }

  bool help(uint32_t participant) override { return takeSlices(participant); }

private:
  struct Recorded {
    CpuEvent *event;
    EventNumber number;
  };
  struct Awaited {
    DeviceEvent *event;
    EventNumber number;
  };
  using Item = std::variant<Launch, Transfer, Recorded, Awaited>;

  void enqueue(Item item);
  void threadLoop();
  void perform(const Launch &launch);
  void perform(const Transfer &transfer);
  void perform(const Recorded &recorded) { recorded.event->pass(recorded.number); }
  void perform(const Awaited &awaited) { awaited.event->synchronize(awaited.number, std::nullopt); }
  void share(const Launch &launch, int64_t threads);
  bool takeSlices(uint32_t participant);

  std::mutex lock;
  std::condition_variable changed;
  std::deque<Item> waiting;
  bool closing = false;
  std::thread thread; // started with the first command
  Pool *const pool;   // null: nobody helps
  SharedDispatch shared;
  HelperCalls calls;
  std::atomic<const Launch *> sharedLaunch{nullptr};
  std::atomic<uint32_t> slicesDone{0}; // how often the last slice of a dispatch was
  Block scratch;                       // of the thread, then of each of the pool's others
  uint64_t scratchShare = 0;           // of each
};

} // namespace sprig::rt::core

#endif
