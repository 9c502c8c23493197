// The threads of one block while they run: their stacks and turns, what they wait for, and what the launch has found so
// far. The hooks (Barrier.cpp, WarpOperations.cpp, Matrix.cpp, AsyncCopy.cpp, Memory.cpp, Atomics.cpp) are written over
// it.
#ifndef SPRIG_TEST_GPU_EMULATOR_BLOCK_H
#define SPRIG_TEST_GPU_EMULATOR_BLOCK_H

#include "test/gpu/emulator/Effects.h"
#include "test/gpu/emulator/Emulator.h"
#include "test/gpu/emulator/Fiber.h"
#include "test/gpu/emulator/Order.h"
#include "test/gpu/emulator/Races.h"
#include "test/gpu/emulator/Requests.h"
#include "test/gpu/image/Codes.h"
#include <array>
#include <deque>
#include <random>
#include <set>

namespace sprig::gpu {

class Block;
struct Warp;

// A flag of the hook `access` that only the emulator gives: the caller enters the effects.
constexpr uint32_t hasOwnEffects = 0x80000000;

// An asynchronous copy that has been issued and has not happened yet.
struct PendingCopy {
  uint32_t to; // offset in shared memory
  uint64_t from;
  uint32_t bytes, sourceBytes, group, line;
};

struct Thread : SprigGpuThread {
  enum class State { Ready, AtBarrier, InWarpOperation, Ended };
  Block *owner = nullptr;
  Warp *warp = nullptr;
  void *context = nullptr;
  State state = State::Ready;
  uint32_t index = 0;                 // in the block
  uint32_t waitLine = 0, waitFor = 0; // where it waits; for which barrier
  void *exchange = nullptr;           // operands and results of the warp operation that it is in
  uint32_t barrierResult = 0;
  uint64_t polledAddress = 0; // what it reads again and again, and how often it has
  uint32_t polls = 0;
  std::vector<PendingCopy> copies;
  uint32_t committedGroups = 0;
  OrderState order;
  std::vector<uint32_t> visits; // of each line, for Requests
};

// Lanes that meet in an operation: those of `mask` that have not ended.
using WarpOperation = void (*)(Block &, Warp &, uint32_t lanes, uint32_t line);
struct Meeting {
  WarpOperation operation;
  uint32_t mask, arrived, line;
};

struct Warp {
  Thread *lanes[32] = {};
  uint32_t index = 0, alive = 0;
  std::vector<Meeting> meetings;
  PendingRequests requests;
};

struct Barrier {
  std::vector<Thread *> waiting;
  uint32_t arrivals = 0, count = 0, line = 0; // arrivals with .arrive ones; count 0: all threads
  uint32_t predicates = 0;                    // how many were true
  BarrierMode mode = BarrierMode::Sync;
  std::vector<uint32_t> warpLines; // where each warp arrived, for aligned barriers
  OrderSnapshot released;          // what .arrive threads had done
  bool isOpen = false;
};

// What all blocks of a launch share.
struct LaunchState {
  LaunchState(const SprigGpuKernel &kernel, Dim3 grid, Dim3 block, const LaunchOptions &options);
  const SprigGpuKernel &kernel;
  Dim3 grid, blockDim;
  const LaunchOptions &options;
  LaunchReport report;
  std::mt19937_64 random;
  GlobalRaces globalRaces;
  Effects effects;
  TrafficCounts traffic;
  bool hasFailed = false; // something that cannot go on
  Range lastTouched[8] = {};
  std::set<std::tuple<Fault, uint32_t, uint32_t>> told;
};

// What bar.warp.sync performs.
void warpBarrierOperation(Block &block, Warp &warp, uint32_t lanes, uint32_t line);

class Block {
public:
  Block(LaunchState &launch, Stacks &stacks, uint32_t sharedBytes, const SprigGpuThread &prototype);
  // Runs the block to its end, or to what cannot go on.
  void run(uint64_t index);

  // For hooks, which run on the stack of the thread that called them.
  static Thread &thread(SprigGpuThread *self) { return *static_cast<Thread *>(self); }
  void wait(Thread &thread, Thread::State state, uint32_t line); // until somebody wakes it
  void wake(Thread &thread);
  void wakeAll(std::vector<Thread *> &threads); // in the launch's order
  [[noreturn]] void endThread();                // the one that runs
  [[noreturn]] void abandon();                  // the launch
  // Tells it once for each fault and pair of lines.
  void complain(Fault fault, const Thread *thread, uint32_t line, uint32_t otherLine, const std::string &text);
  void complainOfRace(const Thread &thread, const char *space, uint64_t address, uint32_t bytes, uint32_t flags,
                      uint32_t line, const Rival &rival);
  [[noreturn]] void fail(Fault fault, const Thread *thread, uint32_t line, uint32_t otherLine, const std::string &text);
  std::string where(const Thread &thread) const; // "thread (1, 0, 0)"
  std::string whereIndex(uint32_t thread) const;

  // The thread joins an operation of its warp; `perform` runs once, when all have come, and sees each lane's exchange.
  template <class T> void meet(Thread &thread, uint32_t mask, uint32_t line, T &exchange, WarpOperation perform) {
    thread.exchange = &exchange;
    meetFor(thread, mask, line, perform);
  }
  template <class T> static T &exchangeOf(Warp &warp, unsigned lane) {
    return *static_cast<T *>(warp.lanes[lane]->exchange);
  }

  // Accesses, after their space is known. All three return only when the access may happen.
  void accessShared(Thread &thread, uint64_t offset, uint32_t bytes, uint32_t flags, uint32_t line);
  void accessGlobal(Thread &thread, uint64_t address, uint32_t bytes, uint32_t flags, uint32_t line);
  bool isChecked() const { return launch.options.checked; }
  uint8_t *shared(uint64_t offset) { return sharedMemory + offset; }
  uint32_t sharedBytes() const { return sharedSize; }
  void checkSharedBounds(Thread &thread, uint64_t offset, uint32_t bytes, uint32_t line, const char *what);
  void countRequest(Thread &thread, bool isShared, uint64_t address, uint32_t bytes, uint32_t flags, uint32_t line);
  void startCopy(Thread &thread, uint32_t to, uint32_t bytes, uint32_t line);
  void landCopies(Thread &thread, uint32_t firstOpenGroup);
  void poll(Thread &thread, uint64_t address, uint32_t line);
  void orderAtomic(Thread &thread, uint64_t address, MemoryOrder order);
  uint32_t arriveAtBarrier(Thread &thread, uint32_t id, uint32_t count, BarrierMode mode, bool isAligned,
                           uint32_t predicate, uint32_t line);
  bool findsRaces() const { return launch.options.checked && launch.options.races; }
  // What the lanes (or all threads that waited) have done is ordered before what any of them does next.
  void orderTogether(const std::vector<Thread *> &participants, const OrderSnapshot &also);

  LaunchState &launch;
  uint32_t threadCount, alive = 0;
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  BlockClock clock; // what orders accesses of this block's threads
  SharedRaces sharedRaces;

private:
  void start(uint64_t index);
  void prepareThread(Thread &thread, uint32_t index);
  std::vector<Thread *> inOrder(std::vector<Thread *> threads);
  void runTogether();
  void runOneByOne();
  void ended(Thread &thread);
  void leave();
  void meetFor(Thread &thread, uint32_t mask, uint32_t line, WarpOperation perform);
  bool performIfComplete(Warp &warp, size_t meeting, Thread *arriving);
  bool releaseIfComplete(Barrier &barrier, Thread *arriving);
  void reportDeadlock();
  static void enterThread();
  static void enterSequence();

  Stacks &stacks;
  SprigGpuCode *code;
  std::vector<Thread> threads; // one where they run one by one
  std::deque<Thread *> ready;
  Thread *current = nullptr;
  void *mainContext = nullptr;
  uint32_t nextInSequence = 0;
  std::vector<uint8_t> sharedStorage, localStorage;
  uint8_t *sharedMemory = nullptr;
  uint32_t sharedSize, localSize;
  uint32_t ctaid[3] = {};
};

} // namespace sprig::gpu
#endif
