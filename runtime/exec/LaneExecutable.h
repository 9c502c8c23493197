// Runs packages on devices that take single commands: enqueues all lanes of an entry, with copies of the caller's
// arrays before them and behind what makes each result, and waits once, at the end. Devices that take down what is
// enqueued, to do it again at once, use its parts.
#ifndef SPRIG_RUNTIME_EXEC_LANEEXECUTABLE_H
#define SPRIG_RUNTIME_EXEC_LANEEXECUTABLE_H

#include "runtime/device/Device.h"
#include "runtime/exec/Package.h"
#include "runtime/exec/Results.h"

namespace sprig::rt::core {

class LaneExecutable final : public Executable {
public:
  LaneExecutable(const Package &package, Pool &pool)
      : package(package), pool(pool), entries(package.program().entries.size()) {}

  Status run(uint32_t entry, const Binding &binding) override;
  bool takesAhead() const override { return !package.isOnHost(); }
  Status start(uint32_t turn, uint32_t entry, const Binding &binding, Behind behind) override;
  bool hasEnded(uint32_t turn, std::chrono::nanoseconds limit) override;
  Status finish(uint32_t turn) override;

  // A run as it is enqueued: for whom, and from and to which places of the host its arrays go.
  struct Order {
    uint32_t turn;
    uint32_t entry;
    RunControl &control;
    const Recording *recording;
    void *const *operands;
    std::span<const Transfer> uploads, downloads;
  };
  // Makes lanes and events of an entry, before its first order.
  Status prepare(uint32_t entry);
  // All of it, behind nothing but what its lanes were given before.
  void enqueueAll(const Order &order);
  // Its uploads alone, in lanes of their own, once the entry is prepared; what is recorded behind them where there are
  // any.
  void uploadInputs(const Order &order);
  std::vector<DeviceEvent *> arrivalsOf(const Order &order) const;
  // What a profile has of an order, once it has ended, where devices keep the time of their commands.
  Status tellRecorded(uint32_t entry, const Recording &recording);
  // What an order of the entry begins in, and what is recorded at its end.
  std::vector<DeviceLane *> lanesOf(uint32_t entry) const;
  std::vector<DeviceEvent *> endsOf(uint32_t turn) const;

private:
  static constexpr uint32_t kTurns = 2;
  // What copies the caller's arrays from and to one device, and what lanes of others cannot.
  struct Port {
    const Device *device;
    uint32_t number;                                   // in the package
    std::unique_ptr<DeviceLane> in;                    // for inputs, also of the next run
    std::unique_ptr<DeviceLane> between;               // for what lanes of others cannot copy
    std::unique_ptr<DeviceLane> back;                  // for outputs, while others are computed
    std::unique_ptr<DeviceEvent> arrived[kTurns] = {}; // inputs
    std::unique_ptr<DeviceEvent> left[kTurns] = {};    // outputs, and all lanes have ended
    std::unique_ptr<DeviceMoment> moment = nullptr;    // before what a profile records
  };
  // A command in an order in which each event is recorded before it is waited for.
  struct Step {
    uint32_t lane;
    uint32_t index;
    Port *port = nullptr; // does this copy in place of the lane's device
    std::unique_ptr<DeviceEvent> before, after;
    Wire *wire;                         // that this copy goes over; null: none
    std::unique_ptr<DeviceEvent> ended; // of a command that is the last to write a result
  };
  // An output goes back from a device with memory of its own when these have been passed.
  struct Return {
    const Device *device;
    uint32_t output;
    std::vector<DeviceEvent *> after;
  };
  struct Plan {
    std::vector<std::unique_ptr<DeviceLane>> lanes;
    std::vector<std::unique_ptr<DeviceEvent>> ends[kTurns]; // of lanes
    std::vector<std::unique_ptr<DeviceEvent>> events;       // of the program
    std::vector<Step> steps;
    std::vector<Return> returns; // in the order in which they go
  };

  Status helpersOf(uint32_t device, Pool *&helpers);
  Status makePorts();
  Status makePlan(const Entry &entry, Plan &plan);
  Status makeSteps(const Entry &entry, Plan &plan);
  Status makeReturns(const Entry &entry, Plan &plan);
  void markMoments(const Order &order);
  void enqueueCommands(const Order &order);
  void returnResults(const Order &order);
  Status chooseCopier(const Entry &entry, Step &step);
  void enqueue(const Order &order, const Entry &entry, const Plan &plan, const Step &step);
  Transfer transferOf(const Entry &entry, const Step &step, void *const *operands) const;

  const Package &package;
  Pool &pool;
  std::vector<std::shared_ptr<Pool>> parts;   // of the pool's threads, where several devices share the host's memory
  std::vector<std::unique_ptr<Plan>> entries; // made at their first run
  std::vector<Port> ports;                    // one for each device that has memory of its own
  const Plan *lastPlans[kTurns] = {};         // of the last run of each turn
  uint32_t lastEntries[kTurns] = {};
  uint32_t lastTurn = 0;
  bool lastWasStarted = false; // else run() has waited for it
  double lastEnd = 0;          // of the run that ended last, by the devices' clocks
};

} // namespace sprig::rt::core

#endif
