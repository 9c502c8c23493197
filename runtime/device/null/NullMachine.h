// What null devices of one load have in common: a thread that does their commands, in the nastiest order that lanes and
// events allow. Nothing is done before somebody waits for it, and then no more than that needs, unless at random.
#ifndef SPRIG_RUNTIME_DEVICE_NULL_NULLMACHINE_H
#define SPRIG_RUNTIME_DEVICE_NULL_NULLMACHINE_H

#include "runtime/device/null/NullMemory.h"
#include "runtime/device/null/NullOptions.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <random>
#include <thread>
#include <variant>

namespace sprig::rt::core {

class NullMachine;

// Commands of one lane that are not done yet, and the lane's clock.
struct NullQueue {
  struct Recorded {
    class NullEvent *event;
    EventNumber number;
  };
  struct Awaited {
    DeviceEvent *event;
    EventNumber number;
  };
  struct Item {
    std::variant<Launch, Transfer, Recorded, Awaited> command;
    // Ranges of tiles or bytes that are still to be done; empty: not begun.
    std::vector<std::pair<uint64_t, uint64_t>> pieces;
    bool begun = false;
  };
  uint32_t device = 0;
  std::deque<Item> items;
  double ns = 0; // whole numbers add up exactly
};

class NullEvent final : public DeviceEvent {
public:
  explicit NullEvent(std::shared_ptr<NullMachine> machine) : machine(std::move(machine)) {}
  ~NullEvent() override;
  bool reached(EventNumber number) override;
  bool synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) override;
  double seconds() const override;

private:
  friend class NullMachine;
  std::shared_ptr<NullMachine> machine;
  // A record that lanes wait for; another may be passed before they look.
  struct Awaited {
    uint32_t waits = 0;
    double ns = 0;
  };
  // Under the machine's lock.
  NullQueue *recordedBy = nullptr; // of the last record
  EventNumber passed = 0;
  double ns = 0; // when it was passed
  std::map<EventNumber, Awaited> awaited;
};

class NullMachine {
public:
  // The machine that it plays: one core of the time of this writing.
  static constexpr double kFlopsPerNs = 100;
  static constexpr double kBytesPerNs = 20;
  static constexpr double kLaunchNs = 100;

  explicit NullMachine(const NullOptions &options) : options(options), random(options.seed) {}
  ~NullMachine();

  const NullOptions options;
  const std::shared_ptr<NullMemory> memory = std::make_shared<NullMemory>();

  NullQueue *addLane(uint32_t device);
  // What it has not done is left undone.
  void removeLane(NullQueue *queue);
  void enqueue(NullQueue &queue, NullQueue::Item item);
  void record(NullQueue &queue, NullEvent &event);
  void wait(NullQueue &queue, DeviceEvent &event);

private:
  friend class NullEvent;
  struct Demand {
    NullEvent *event;
    EventNumber number;
  };

  void want(NullEvent &event, EventNumber number);
  void threadLoop();
  NullQueue *choose();
  NullQueue *chooseAtRandom();
  NullQueue *firstNeededBy(NullQueue *queue);
  bool isBlocked(const NullQueue::Item &item) const;
  static bool isPassed(const NullQueue::Awaited &awaited);
  void advance(NullQueue &queue, std::unique_lock<std::mutex> &guard);
  void begin(NullQueue::Item &item);
  void cut(NullQueue::Item &item, uint64_t size);
  void perform(const Launch &launch, std::pair<uint64_t, uint64_t> tiles, uint32_t device);
  void perform(const Transfer &transfer, std::pair<uint64_t, uint64_t> bytes);
  void finish(NullQueue &queue, const NullQueue::Item &item);
  double nanosecondsOf(const Transfer &transfer) const;

  std::mutex lock;
  std::condition_variable work;     // for the thread
  std::condition_variable progress; // for who waits for events or lanes
  std::vector<std::unique_ptr<NullQueue>> queues;
  std::vector<Demand> demands; // what somebody waits for
  NullQueue *busy = nullptr;   // whose command is being done without the lock
  std::mt19937_64 random;
  bool closing = false;
  std::thread thread; // started with the first demand
  Block scratch;      // of the thread
  std::vector<void *> operands;
};

} // namespace sprig::rt::core

#endif
