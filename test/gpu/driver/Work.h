// What streams (and nodes of graphs) do: launches, copies, fills, host functions. Each knows its name and how it is
// done.
#ifndef SPRIG_TEST_GPU_DRIVER_WORK_H
#define SPRIG_TEST_GPU_DRIVER_WORK_H

#include "test/gpu/driver/Launch.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace sprig::cuda {

class Driver;

/// One end of a copy.
struct Place {
  enum class Kind { Device, Pinned, Pageable };
  Kind kind = Kind::Pageable;
  uint64_t address = 0;
  uint64_t allocation = 0; // its number, if it has one

  bool isHost() const { return kind != Kind::Device; }
};

struct Copy {
  Place to, from;
  uint64_t bytes = 0;
  std::shared_ptr<const std::vector<char>> staged; // of pageable memory: what it had when it was queued
  bool watched = false;                            // of pinned memory: the two below say what it was then
  uint64_t digest = 0, writes = 0;                 // of its bytes, and the operations that had written to it
};

struct Fill {
  uint64_t address = 0;
  uint64_t allocation = 0;
  unsigned value = 0, elementBytes = 1;
  uint64_t count = 0;
};

struct HostCall {
  CUhostFn function = nullptr;
  void *data = nullptr;
};

/// Memory that comes and goes in a stream's order.
struct AllocateInOrder {
  uint64_t address = 0;
};
struct FreeInOrder {
  uint64_t address = 0;
};

using Work = std::variant<KernelLaunch, Copy, Fill, HostCall, AllocateInOrder, FreeInOrder>;

/// "copy host to device" and the like.
std::string nameOf(const Work &work);
/// Does it; `driver.mutex` is held but for host functions.
CUresult perform(Driver &driver, const OperationRef &operation, const Copy &copy);
CUresult perform(Driver &driver, const OperationRef &operation, const Fill &fill);
CUresult perform(Driver &driver, const OperationRef &operation, const HostCall &call);
CUresult perform(Driver &driver, const OperationRef &operation, const AllocateInOrder &allocate);
CUresult perform(Driver &driver, const OperationRef &operation, const FreeInOrder &free);

/// What lies at an address. CUDA_ERROR_INVALID_VALUE, with a complaint of `function`, for a device's address that is
/// not in a living allocation as far as all of the bytes.
CUresult locate(Driver &driver, const char *function, uint64_t address, uint64_t bytes, Place &place);

/// Pinned memory that the copy will read, as it is now, to see later whether it still is.
void watchPinned(Driver &driver, Copy &copy);

} // namespace sprig::cuda

#endif
