// What the runtime asks of a kind of device. Narrow on purpose: memory, code, and the five things that a lane does.
// A device is stateless between runs and shared by all threads; what a lane is doing stands in its LaneRun.
#ifndef SPRIG_RUNTIME_DEVICE_DEVICE_H
#define SPRIG_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/Memory.h"
#include "runtime/base/Status.h"
#include "runtime/load/Program.h"

namespace sprig::rt::core {

class Run;
struct LaneSlot;

// One lane of one run, as seen by the thread that drives it.
struct LaneRun {
  Run &run;
  LaneSlot &slot;
  uint32_t lane;
  uint32_t participant; // which thread of the pool drives it, 0 for the caller
};

class Device {
public:
  virtual ~Device() = default;

  virtual std::string_view kind() const = 0;
  // Whether commands compute. One that does not needs no code, no memory and no data.
  virtual bool executes() const = 0;
  virtual Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Block &block) const = 0;

  // Called by the thread that drives the lane, in the order of its commands. `operands` are the addresses that the
  // command names.
  virtual void begin(LaneRun &lane) const = 0;
  virtual void dispatch(LaneRun &lane, const Command &command, void *const *operands) const = 0;
  virtual void copy(LaneRun &lane, const Command &command, void *const *operands) const = 0;
  virtual void record(LaneRun &lane, uint32_t event) const = 0;
  // The event is recorded already; the driver never blocks a thread in a device.
  virtual void wait(LaneRun &lane, uint32_t event) const = 0;
  // Seconds that the lane has taken, on devices that keep simulated time; else 0.
  virtual double seconds(const LaneSlot &slot) const = 0;
};

// The device of a kind; null when there is none of that name.
const Device *findDevice(std::string_view kind);

} // namespace sprig::rt::core

#endif
