// Memory of devices, and host memory that the driver knows of. A device's memory is mapped twice: where device pointers
// point, and there host code must not reach it (it is open only while kernels run), and where the stand-in itself
// copies; so is pinned memory (HostGuard.h). What was freed stays known for long, so that later accesses are told from
// wild ones.
#ifndef SPRIG_TEST_GPU_DRIVER_MEMORY_H
#define SPRIG_TEST_GPU_DRIVER_MEMORY_H

#include "test/gpu/driver/AccessHistory.h"
#include "test/gpu/driver/HostGuard.h"
#include "test/gpu/driver/Intervals.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace sprig::cuda {

enum class Space { Device, Pinned, Registered };

struct Allocation {
  uint64_t begin = 0, size = 0;
  Space space = Space::Device;
  int device = 0;       // whose memory, or of whose context
  uint64_t number = 0;  // in the order of allocations, from 1
  unsigned flags = 0;   // of host memory
  char *open = nullptr; // of pinned memory: where the stand-in itself reaches it
  OperationRef freed;   // what freed it
  IntervalSet written;  // of a device's memory
  AccessHistory history;
  uint64_t writes = 0; // operations that wrote to it

  uint64_t end() const { return begin + size; }
  bool contains(uint64_t address) const { return address >= begin && address < end(); }
  std::string title() const;
};

/// Bytes that one device has, and where.
class Arena {
public:
  Arena(uint64_t bytes);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  bool valid() const { return open != nullptr; }
  bool contains(uint64_t address) const { return address - base() < reserved; }
  uint64_t base() const { return reinterpret_cast<uint64_t>(shown); }
  /// Where the stand-in itself reaches the byte of a device's address.
  char *reach(uint64_t address) const { return open + (address - base()); }

  /// An address, 0 if there is no room left.
  uint64_t take(uint64_t bytes);
  void give(uint64_t address, uint64_t bytes);
  void drop(uint64_t address, uint64_t bytes); // its contents
  void allow(bool allowed);

  const uint64_t limit;
  uint64_t used = 0;

private:
  uint64_t reserved = 0;
  char *shown = nullptr, *open = nullptr;
  uint64_t top = 0;                        // bytes from the base on that were ever taken
  std::multimap<uint64_t, uint64_t> holes; // size to address
};

class Memory {
public:
  /// One arena for each number of bytes. Not valid where the system gives no room.
  explicit Memory(const std::vector<uint64_t> &bytes, bool guardHost);
  ~Memory();
  bool valid() const;

  Allocation *allocateDevice(int device, uint64_t bytes); // null: out of memory
  Allocation *allocatePinned(int device, uint64_t bytes, unsigned flags);
  Allocation *registerHost(int device, uint64_t address, uint64_t bytes, unsigned flags); // null: overlaps another
  void free(Allocation &allocation, OperationRef by);
  /// All of a device's own memory.
  void freeAll(int device, const OperationRef &by);

  /// The allocation, living or freed, that the address is in.
  Allocation *find(uint64_t address);
  /// All allocations, living and freed.
  std::vector<Interval> ranges() const;
  bool isDeviceAddress(uint64_t address) const;
  /// Where the stand-in itself reaches the address, whatever it is.
  char *reach(uint64_t address) const;
  /// What lies next to an address that no allocation has.
  std::string neighbour(uint64_t address) const;

  uint64_t freeBytes(int device) const { return arenas[device]->limit - arenas[device]->used; }
  uint64_t totalBytes(int device) const { return arenas[device]->limit; }

  /// Kernels may reach devices' memory by its own addresses until it is closed.
  void openForKernels();
  void closeForHost();
  /// Of pinned memory; null where nobody checks what the host does.
  HostGuard *hostGuard() { return guardHost ? &pinned : nullptr; }

private:
  Allocation &insert(Allocation allocation);
  void unmapPinned(const Allocation &allocation);
  void recycle();

  std::vector<std::unique_ptr<Arena>> arenas;
  std::map<uint64_t, std::unique_ptr<Allocation>> allocations; // by address
  std::deque<uint64_t> freed;                                  // oldest first
  Allocation *last = nullptr;                                  // found
  uint64_t numbers = 0;
  HostGuard pinned;
  const bool guardHost;
  bool isOpen = false;
};

} // namespace sprig::cuda

#endif
