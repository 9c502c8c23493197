// The processor's executable: drives the lanes of one entry at a time on the caller's thread, with the help of a pool's
// threads. A context owns one and uses it again for each run, so a run allocates nothing and takes no lock.
//
// Who does what: lanes are virtual. The caller drives lane 0 and, when that waits, any lane that nobody drives; a
// large dispatch is cut into slices that its driver and all helpers take one by one. So the caller alone can always
// finish the run, and a helper that sleeps is never waited for.
//
// Helpers may look at a run at any time, also between two runs: everything they read first is atomic, and they get
// work only by a compare-and-swap on a word that carries the number of the run or of the dispatch, which cannot succeed
// when that is over.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPURUN_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPURUN_H

#include "runtime/device/Executable.h"
#include "runtime/device/cpu/CpuCode.h"
#include "runtime/exec/Package.h"

#include <atomic>

namespace sprig::rt::core {

class Pool;

struct LaneSlot {
  // Number of the run and phase, see Run.cpp.
  alignas(64) std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> position{0}; // next command, while nobody drives

  // The dispatch that is being cut into slices of some units, a unit being some tiles. Ticket: its number, the end and
  // the begin of the units that nobody has taken.
  alignas(64) std::atomic<uint64_t> ticket{0};
  std::atomic<const Command *> command{nullptr};
  std::atomic<void *const *> operands{nullptr};
  std::atomic<int64_t> unitTiles{0};
  std::atomic<uint32_t> unitCount{0};
  std::atomic<uint32_t> threads{1}; // that are worth their hand-off
  alignas(64) std::atomic<uint32_t> unitsDone{0};
};

// One lane of one run, as seen by the thread that drives it.
struct LaneRun {
  LaneSlot &slot;
  uint32_t lane;
  uint32_t participant; // which thread of the pool drives it, 0 for the caller
};

class CpuRun final : public Executable {
public:
  CpuRun(const Package &package, const CpuCode &code, Pool &pool);
  ~CpuRun() override;

  Status allocate();
  Status run(uint32_t entryIndex, const Binding &binding) override;

  // For the pool: does what can be done now; whether there was something.
  bool help(uint32_t participant);

private:
  template <bool Recorded> Status executePlain(const Entry &current, void *const *operands);
  void driveAll();
  bool advance(uint32_t lane, uint32_t participant);
  void execute(const Command &command, LaneRun &lane, void *const *operands);
  void executeRecorded(const Command &command, LaneRun &lane, void *const *operands);
  void dispatchTiles(LaneRun &lane, const Command &command, void *const *operands);
  bool laneCanMove(uint32_t lane, uint64_t ofGeneration) const;
  bool claimLane(uint32_t lane);
  bool driveSomeLane(uint32_t first, uint32_t participant);
  bool takeSlices(LaneSlot &slot, uint32_t participant);
  bool takeSlicesOfAnyLane(uint32_t participant);
  void runSliceRecorded(const LaneSlot &slot, const Command &command, void *const *operands, int64_t begin, int64_t end,
                        uint32_t participant);
  void callHelpers(const Command &command);
  void runSlice(const Command &command, void *const *operands, int64_t begin, int64_t end, uint32_t participant);
  void changed();
  template <typename Condition> void waitUntil(Condition condition);

  const Package &package;
  const CpuCode &code;
  Pool &pool;
  uint32_t laneCapacity;
  uint32_t eventCapacity;
  std::unique_ptr<LaneSlot[]> lanes;
  std::unique_ptr<std::atomic<uint64_t>[]> events; // number of the run that recorded it
  Block scratch;                                   // the caller's share, then one for each other thread of the pool
  uint64_t callerScratch = 0;
  uint64_t helperScratch = 0;

  uint64_t generation = 0; // number of the current run
  alignas(64) std::atomic<const Entry *> entry{nullptr};
  std::atomic<void *const *> operandTable{nullptr};
  alignas(64) std::atomic<uint32_t> lanesDone{0};
  // Counts what a waiting caller may wait for: events, ended lanes, last slices.
  std::atomic<uint32_t> signal{0};
  // Work that could have been shared since helpers were last woken; of the thread that drives lane 0.
  double unsharedSeconds = 0;
};

} // namespace sprig::rt::core

#endif
