// Who last wrote and who has since read each byte of an allocation: what a new access must come after.
#ifndef SPRIG_TEST_GPU_DRIVER_ACCESSHISTORY_H
#define SPRIG_TEST_GPU_DRIVER_ACCESSHISTORY_H

#include "test/gpu/driver/Intervals.h"
#include "test/gpu/driver/Operation.h"

#include <map>

namespace sprig::cuda {

/// Updates are atomics whose old value nobody uses. Those of one kind commute; there are more kinds than one.
enum class Access : uint32_t { Read, Write, Update };
inline Access updateOf(uint32_t kind) { return Access(uint32_t(Access::Update) + kind); }

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

  /// Enters an access, and gives the first conflict with each operation before it. Updates do not conflict
  /// with updates of their kind.
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
