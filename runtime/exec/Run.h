// One run of one entry: drives its lanes on the caller's thread, with the help of a pool's threads. A context owns one
// and uses it again for each run, so a run allocates nothing and takes no lock.
//
// Who does what: lanes are virtual. The caller drives lane 0 and, when that waits, any lane that nobody drives; a
// large dispatch is cut into slices that its driver and all helpers take one by one. So the caller alone can always
// finish the run, and a helper that sleeps is never waited for.
//
// Helpers may look at a run at any time, also between two runs: everything they read first is atomic, and they get
// work only by a compare-and-swap on a word that carries the number of the run or of the dispatch, which cannot succeed
// when that is over.
#ifndef SPRIG_RUNTIME_EXEC_RUN_H
#define SPRIG_RUNTIME_EXEC_RUN_H

#include "runtime/device/Device.h"
#include "runtime/exec/Package.h"
#include "runtime/profile/Profile.h"

#include <atomic>
#include <mutex>

namespace sprig::rt::core {

class Pool;

struct LaneSlot {
  // Number of the run and phase, see Run.cpp.
  alignas(64) std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> position{0}; // next command, while nobody drives
  double seconds = 0;                // simulated time, of who drives

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

class Run {
public:
  Run(const Package &package, Pool &pool);
  ~Run();

  Status allocate();
  // Forgets an earlier cancellation; before the first execute of a call. `cancelled` may be null, else the runs up to
  // the next arm stop when it is true.
  void arm(const std::atomic<bool> *cancelled);
  // Runs the entry to its end. `operands`: an address for each of entry.operands. Outputs are undefined on failure.
  Status execute(uint32_t entryIndex, void *const *operands);
  // From any thread: the armed run stops at its next command.
  void cancel();
  // Events of the runs up to the next call go there; null: nowhere. Not during a run.
  void record(Recording *recording) { recorded = recording; }
  Recording *recording() const { return recorded; }
  double simulatedSeconds() const { return simulated; }

  // For the pool: does what can be done now; whether there was something.
  bool help(uint32_t participant);

  // For devices.
  void dispatchTiles(LaneRun &lane, const Command &command, void *const *operands);
  void setEventSeconds(uint32_t event, double seconds) { eventTimes[event] = seconds; }
  double eventSeconds(uint32_t event) const { return eventTimes[event]; }

private:
  enum Stop : uint32_t { Going, Cancelled, Failed };

  template <bool Recorded> Status executePlain(const Entry &current, void *const *operands);
  void driveAll();
  bool advance(uint32_t lane, uint32_t participant);
  void execute(const Command &command, LaneRun &lane, const Device &device, void *const *operands);
  void executeRecorded(const Command &command, LaneRun &lane, const Device &device, void *const *operands);
  bool laneCanMove(uint32_t lane, uint64_t ofGeneration) const;
  bool claimLane(uint32_t lane);
  bool driveSomeLane(uint32_t first, uint32_t participant);
  bool takeSlices(LaneSlot &slot, uint32_t participant);
  bool takeSlicesOfAnyLane(uint32_t participant);
  void runSliceRecorded(const LaneSlot &slot, const Command &command, void *const *operands, int64_t begin, int64_t end,
                        uint32_t participant);
  void callHelpers(const Command &command);
  void runSlice(const Command &command, void *const *operands, int64_t begin, int64_t end, uint32_t participant);
  void fail(const Command &command, const sprig_rt_kernel_status &status, int32_t result, int64_t begin);
  void changed();
  template <typename Condition> void waitUntil(Condition condition);
  Status result();

  const Package &package;
  Pool &pool;
  uint32_t laneCapacity;
  uint32_t eventCapacity;
  std::unique_ptr<LaneSlot[]> lanes;
  std::unique_ptr<std::atomic<uint64_t>[]> events; // number of the run that recorded it
  std::unique_ptr<double[]> eventTimes;
  Block scratch; // the caller's share, then one for each other thread of the pool
  uint64_t callerScratch = 0;
  uint64_t helperScratch = 0;

  uint64_t generation = 0; // number of the current run
  alignas(64) std::atomic<const Entry *> entry{nullptr};
  std::atomic<void *const *> operandTable{nullptr};
  std::atomic<uint32_t> stop{Going};
  Recording *recorded = nullptr; // helpers see it once they got work
  alignas(64) std::atomic<uint32_t> lanesDone{0};
  // Counts what a waiting caller may wait for: events, ended lanes, last slices.
  std::atomic<uint32_t> signal{0};
  double simulated = 0;
  // Work that could have been shared since helpers were last woken; of the thread that drives lane 0.
  double unsharedSeconds = 0;

  std::mutex failureLock; // taken by failing kernels only
  struct Failure {
    const Command *command = nullptr;
    sprig_rt_kernel_status status = {};
    int32_t result = 0;
    int64_t begin = 0;
  } failure;
};

} // namespace sprig::rt::core

#endif
