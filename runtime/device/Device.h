// What the runtime asks of a device. Everything enqueues: a command has not happened when the call for it returns, and
// what goes wrong with it later stands in the RunControl of its run. Nobody else may assume that a device's addresses
// mean something to the host (sharesHostMemory), or that commands end in any order but that of lanes and events.
#ifndef SPRIG_RUNTIME_DEVICE_DEVICE_H
#define SPRIG_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/Memory.h"
#include "runtime/base/Status.h"
#include "runtime/device/Executable.h"
#include "runtime/format/Container.h"
#include "runtime/load/Program.h"

#include <chrono>
#include <memory>
#include <optional>

namespace sprig::rt::core {

class Device;
class Package;
class Pool;
class Wire;

// Bytes of a device's memory, given back with the last copy of the handle.
struct Memory {
  uint8_t *address = nullptr;
  std::shared_ptr<void> owner;
};

// A package's kernels, ready to run on a device.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;
  std::string isa; // of the image that was chosen
  int image = -1;  // its index in the package; -1: none
};

// What to make DeviceCode of.
struct CodeRequest {
  const Program &program;
  std::span<const format::Section> sections;
  std::string_view kind; // of the images that are meant: of the device that the program was compiled for
  std::string limit;     // no better architecture than this one; empty: any
};

// The number of the record that is meant: events are recorded again with each run.
using EventNumber = uint64_t;

// A place in a lane that others may wait for. Recorded before it is waited for, as far as calls go.
class DeviceEvent {
public:
  virtual ~DeviceEvent() = default;
  // Of the last record that was enqueued; 0: none.
  EventNumber last() const { return issued; }
  // Whether that record has been passed. Looking gets a lazy device going.
  virtual bool reached(EventNumber number) = 0;
  // Blocks the calling thread until it has; false: the limit passed first.
  virtual bool synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) = 0;
  // When the last record was passed, by the device's own clock; 0 where it keeps none.
  virtual double seconds() const { return 0; }
  // Whether it was passed because the device failed.
  virtual Status failure() const { return {}; }

protected:
  EventNumber issued = 0; // of the thread that enqueues
};

// Of which run a command is, for its failures and for profiles.
struct CommandTag {
  RunControl *control = nullptr; // null: of none
  const Recording *recording = nullptr;
  uint32_t lane = 0;
  uint32_t index = 0;
  sprig_rt_profile_kind copies = SPRIG_RT_PROFILE_COPY; // what a copy is called
};

struct Launch {
  const DeviceCode *code = nullptr;
  const Kernel *kernel = nullptr;
  const Command *command = nullptr;
  void *const *operands = nullptr; // stay until the command has ended
  CommandTag tag;
};

struct Transfer {
  uint8_t *target = nullptr;
  const uint8_t *source = nullptr;
  uint64_t bytes = 0;
  const Device *targetDevice = nullptr; // null: the host
  const Device *sourceDevice = nullptr;
  CommandTag tag;
  Wire *wire = nullptr; // that it goes over; null: none of set latency and rate
  uint32_t array = 0;   // of the caller's: which
};

// A moment that the host's clock and a device's own have in common.
class DeviceMoment {
public:
  virtual ~DeviceMoment() = default;
  uint64_t ticks = 0; // of the host, when it had seen that the device had passed it
};

// Commands in order. Used by one thread at a time; destroyed when all that it was given has ended.
class DeviceLane {
public:
  virtual ~DeviceLane() = default;
  virtual void dispatch(const Launch &launch) = 0;
  // Source and target may be the same bytes.
  virtual void copy(const Transfer &transfer) = 0;
  virtual void record(DeviceEvent &event) = 0;
  // For the event's last record, of this device or of any other.
  virtual void wait(DeviceEvent &event) = 0;
  // Of a device with a clock of its own: what was recorded since this was last asked, in order, by the host's ticks as
  // well as they are known: from a moment of the device before all of it, null where that failed, at one rate.
  // Everything has ended. Others write to profiles themselves.
  virtual Status takeRecorded(const DeviceMoment *, double, std::vector<StreamSpan> &) { return {}; }
};

class Device {
public:
  Device(std::string kind, uint32_t ordinal) : kindName(std::move(kind)), number(ordinal) {}
  virtual ~Device() = default;

  const std::string &kind() const { return kindName; }
  uint32_t ordinal() const { return number; }
  std::string name() const { return concat(kindName, ":", number); }

  // Whether its addresses are the host's.
  virtual bool sharesHostMemory() const = 0;
  // Whether commands compute. A device that does not needs no code, no memory and no data.
  virtual bool executes() const { return true; }
  // Whether its lanes can copy from and to the other's memory; every one can from and to the host's.
  virtual bool reaches(const Device &other) const { return &other == this || other.sharesHostMemory(); }

  // Which architectures it has, and what is asked of an image beyond what Verify asks of all, is the device's to say.
  virtual Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const = 0;
  // `what` stands in the message when there is no memory. Aligned to 64 bytes.
  virtual Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const = 0;
  // `helpers`, which outlives the lane, may take part in what its commands compute on the host; null: nobody does.
  virtual Status createLane(Pool *helpers, std::unique_ptr<DeviceLane> &lane) const = 0;
  virtual Status createEvent(std::unique_ptr<DeviceEvent> &event) const = 0;
  // Now, by both clocks, for what a profile is about to record; of a device without a clock of its own: none. Waits for
  // nothing that is in lanes.
  virtual Status markMoment(std::unique_ptr<DeviceMoment> &) const { return {}; }
  // Copies between the host, which is no device, and this one, and returns when that is done.
  virtual Status transferNow(const Transfer &transfer) const;
  // Whether an array of the caller's may lie at an address of this device, and whether commands may go into a stream of
  // the caller's, as far as the device knows; `what` stands in the message.
  virtual Status checkArray(const void *address, std::string_view what) const;
  virtual Status checkStream(void *stream) const;
  // The whole package at once, all of whose devices are of this kind; null where the device takes single commands only.
  virtual Status instantiate(const Package &, Pool &, std::unique_ptr<Executable> &) const { return {}; }

private:
  std::string kindName;
  uint32_t number;
};

// Copies between the host and a device, and returns when that is done.
Status upload(const Device &device, uint8_t *target, const void *source, uint64_t bytes);
Status download(const Device &device, void *target, const uint8_t *source, uint64_t bytes);

} // namespace sprig::rt::core

#endif
