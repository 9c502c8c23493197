// Memory of null devices: addresses that fault on the host, each standing for bytes elsewhere that only the device
// knows. Fresh and given-back bytes are all ones (NaN, -1), so that who reads them shows.
#ifndef SPRIG_RUNTIME_DEVICE_NULL_NULLMEMORY_H
#define SPRIG_RUNTIME_DEVICE_NULL_NULLMEMORY_H

#include "runtime/device/Device.h"

#include <map>
#include <mutex>

namespace sprig::rt::core {

class NullMemory : public std::enable_shared_from_this<NullMemory> {
public:
  Status allocate(const Allocator &allocator, uint32_t device, uint64_t bytes, std::string_view what, Memory &memory);
  // The bytes that `bytes` from an address of the device stand for; UINT64_MAX: however many there are. `what` and the
  // device stand in the message when there are none.
  Status translate(const void *address, uint64_t bytes, uint32_t device, std::string_view what, uint8_t *&real) const;

private:
  struct Range {
    uint32_t device;
    uint64_t bytes;    // usable
    uint64_t reserved; // of addresses
    Block real;
  };
  void release(uint8_t *address);

  mutable std::mutex lock;
  std::map<uintptr_t, Range> ranges; // by address
};

} // namespace sprig::rt::core

#endif
