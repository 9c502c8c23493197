// What an operation may touch, and when: inside of living allocations that its device reaches, after whoever it must
// come after, reading only what somebody wrote. Each fault becomes a complaint that names both sides.
#ifndef SPRIG_TEST_GPU_DRIVER_CHECKS_H
#define SPRIG_TEST_GPU_DRIVER_CHECKS_H

#include "test/gpu/driver/AccessHistory.h"
#include "test/gpu/driver/Cuda.h"

namespace sprig::cuda {

class Driver;
struct Allocation;

/// What an operation read and wrote, in bytes.
struct Effects {
  IntervalList reads, writes;
  std::map<Access, IntervalList> updates; // by their kind

  template <typename Each> void forEach(Each each) const {
    each(reads, Access::Read);
    for (const auto &[kind, bytes] : updates) each(bytes, kind);
    each(writes, Access::Write);
  }
};

/// Whether the operation may touch the bytes at all. Complains if not; then it must not be done. `device`: whose
/// kernel or fill it is, which has to reach the memory; -1 for copies, which reach everything.
bool checkReach(Driver &driver, const Operation &operation, Interval bytes, int device);

/// Enters what the operation has done: the order against all who touched the same bytes, and what nobody wrote.
/// `spreads`: unwritten bytes are copied on rather than used (copies between devices): the target counts as unwritten
/// too.
void checkEffects(Driver &driver, const OperationRef &operation, const Effects &effects,
                  bool readsMustBeWritten = true);

/// The host ends an allocation: all who touched it must be known to be done.
void checkFree(Driver &driver, const OperationRef &operation, Allocation &allocation);

/// "bytes 16 to 32 of allocation 3 (64 bytes of cuda:0)"; the end is exclusive.
std::string describe(const Allocation &allocation, Interval bytes);

} // namespace sprig::cuda

#endif
