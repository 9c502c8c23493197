// Who last wrote and who has since read each byte of an allocation: what a new access must come after.
#ifndef SPRIG_TEST_GPU_DRIVER_ACCESSHISTORY_H
#define SPRIG_TEST_GPU_DRIVER_ACCESSHISTORY_H

#include "test/gpu/driver/Intervals.h"
#include "test/gpu/driver/Operation.h"

#include <map>

namespace sprig::cuda {

enum class Access { Read, Write, Atomic };

class AccessHistory {
public:
  struct Entry {
    OperationRef by;
    Access access;
  };
  /// An access that nothing orders with the new one; the bytes that both touch.
  struct Conflict {
    Entry earlier;
    Interval bytes;
  };

  /// Enters an access, and gives the first conflict with each operation before it. Atomics do not conflict with
  /// atomics.
  std::vector<Conflict> enter(const OperationRef &operation, Interval bytes, Access access);

private:
  struct Segment {
    uint64_t end;
    std::vector<Entry> entries; // of which none is before another that outweighs it
  };
  void splitAt(uint64_t address);

  std::map<uint64_t, Segment> segments; // by their beginning
};

} // namespace sprig::cuda

#endif
