// The processor's executable: drives the lanes of one entry at a time on the caller's thread, with the help of a pool's
// threads. A context owns one and uses it again for each run, so a run allocates nothing and takes no lock.
//
// Who does what: lanes are virtual. The caller drives lane 0 and, when that waits, any lane that nobody drives; a
// large dispatch is cut into slices that its driver and all helpers take one by one. So the caller alone can always
// finish the run, and a helper that sleeps is never waited for. Of several shares of the processor (cpu:0, cpu:1), each
// has helpers of its own, which help with its lanes alone; the caller is one of the first's and helps all. A lane that
// only copies is driven by whoever has time. Over a link of set rate a copy is on its way without anybody (Wire.h); the
// link's thread drives a lane that only copies on, up to its next copy or wait. Collectives wait for other ranks, so
// helpers leave their lanes alone: a thread of its own drives one that has nothing else, where the group has a core for
// it, else the caller, when its own lane waits. Events keep collectives of several lanes in one order.
//
// Helpers may look at a run at any time, also between two runs: everything they read first is atomic, and they get
// work only by a compare-and-swap on a word that carries the number of the run or of the dispatch, which cannot succeed
// when that is over.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPURUN_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPURUN_H

#include "runtime/device/Executable.h"
#include "runtime/device/cpu/CpuCode.h"
#include "runtime/device/cpu/LaneThread.h"
#include "runtime/device/cpu/SharedDispatch.h"
#include "runtime/machine/ThreadShares.h"
#include "runtime/exec/Helped.h"
#include "runtime/exec/Package.h"

#include <atomic>

namespace sprig::rt::core {

class Pool;

struct LaneSlot {
  // Number of the run and phase, see Run.cpp.
  alignas(64) std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> position{0}; // next command, while nobody drives

  SharedDispatch dispatch; // of many tiles, while it runs

  // Of a copy over a link of set rate, at `position`: while it is on its way nobody drives the lane.
  enum class Carry : uint8_t { None, UnderWay, Arrived };
  std::atomic<Carry> carry{Carry::None};
  struct Carried : WiredCopy {
    class CpuRun *run = nullptr;
    uint32_t lane = 0;
    uint64_t begin = 0; // ticks, for profiles
  } carried;
};

// One lane of one run, as seen by the thread that drives it.
struct LaneRun {
  LaneSlot &slot;
  uint32_t lane;
  uint32_t participant; // which thread of the pool drives it, 0 for the caller
};

class CpuRun final : public Executable, public Helped {
public:
  CpuRun(const Package &package, const CpuCode &code, Pool &pool);
  ~CpuRun() override;

  Status allocate();
  Status run(uint32_t entryIndex, const Binding &binding) override;
  bool meetsRanks() const override { return true; }

  bool help(uint32_t participant) override;

private:
  // Of a lane of an entry: what its copies go over, by command, empty where they go over no link of set rate; and who
  // may drive it.
  struct LaneFacts {
    std::vector<Wire *> wires;
    uint32_t device = 0;
    bool onlyCopies = false; // computes nothing: whoever has time drives it
    bool carries = false;    // and copies over such links alone, so that it takes nobody's time
    bool meets = false;      // has collectives, so that only one thread may drive it
  };
  static constexpr uint32_t kNoLane = UINT32_MAX;

  void lookAtLanes();
  template <bool Recorded> Status executePlain(const Entry &current, void *const *operands);
  void driveAll();
  bool advance(uint32_t lane, uint32_t participant);
  void execute(const Command &command, LaneRun &lane, void *const *operands);
  void runCollective(const Command &command, void *const *own, bool isApart);
  uint32_t collectiveLaneOf(uint32_t entryIndex) const;
  void driveCollectives();
  void stopOthers();
  void executeRecorded(const Command &command, LaneRun &lane, void *const *operands);
  bool waitsForCarry(LaneRun &lane, uint32_t at, void *const *operands);
  void arrived(LaneSlot::Carried &copy);
  Wire *wireOf(uint32_t lane, uint32_t at) const;
  const LaneFacts *factsOf(uint32_t lane) const;
  void driveCarriers(uint32_t participant);
  void dispatchTiles(LaneRun &lane, const Command &command, void *const *operands);
  uint32_t threadsOf(uint32_t lane) const;
  bool serves(uint32_t participant, uint32_t lane) const;
  bool laneCanMove(uint32_t lane, uint64_t ofGeneration) const;
  bool claimLane(uint32_t lane);
  bool driveSomeLane(uint32_t first, uint32_t participant);
  bool takeSlices(LaneSlot &slot, uint32_t participant);
  bool takeSlicesOfAnyLane(uint32_t participant);
  void runSliceRecorded(const LaneSlot &slot, const Command &command, void *const *operands, int64_t begin, int64_t end,
                        uint32_t participant);
  void runSlice(const Command &command, void *const *operands, int64_t begin, int64_t end, uint32_t participant);
  void changed();

  const Package &package;
  const CpuCode &code;
  Pool &pool;
  ThreadShares shares; // of the package's devices
  uint32_t laneCapacity;
  uint32_t eventCapacity;
  std::unique_ptr<LaneSlot[]> lanes;
  std::unique_ptr<std::atomic<uint64_t>[]> events; // number of the run that recorded it
  std::vector<std::vector<LaneFacts>> facts;
  std::vector<Wire *> wires; // all of them
  Block scratch;             // the caller's share, then one for each other thread of the pool
  uint64_t callerScratch = 0;
  uint64_t helperScratch = 0;

  std::vector<comm::GroupTensor> tensors; // of the collective at hand: those that meet others follow one another
  uint32_t collectiveLane = kNoLane;      // of this run: the one that the thread for it drives
  Status stopped;                         // what this run failed with, once the other ranks know

  uint64_t generation = 0; // number of the current run
  alignas(64) std::atomic<const Entry *> entry{nullptr};
  std::atomic<void *const *> operandTable{nullptr};
  alignas(64) std::atomic<uint32_t> lanesDone{0};
  // Counts what a waiting caller may wait for: events, ended lanes, last slices.
  std::atomic<uint32_t> signal{0};
  HelperCalls calls; // of the thread that drives lane 0
  LaneThread collectives;
};

} // namespace sprig::rt::core

#endif
