// What one running thread needs of a package: arenas, bindings, an executable. Used by one thread at a time; a second
// one is told so rather than served.
#ifndef SPRIG_RUNTIME_EXEC_CONTEXT_H
#define SPRIG_RUNTIME_EXEC_CONTEXT_H

#include "runtime/exec/Binding.h"
#include "runtime/exec/Places.h"
#include "runtime/exec/Pool.h"
#include "runtime/profile/Target.h"

namespace sprig::rt::core {

struct RunInfo {
  uint32_t entry = 0;
  uint32_t runs = 0;
  uint64_t paddedSamples = 0;
  uint32_t stagedInputs = 0;
  uint32_t stagedOutputs = 0;
  double simulatedSeconds = 0;
};

class Context {
public:
  // `pool` and `state` may be null for the process's pool and a fresh state.
  static Status create(std::shared_ptr<const Package> package, std::shared_ptr<Pool> pool, std::shared_ptr<State> state,
                       std::unique_ptr<Context> &context);

  using Tensors = std::span<const sprig_rt_tensor>;
  // Checks what a call would be given, without running it.
  Status check(int32_t entry, Tensors inputs, Tensors outputs, Choice &choice) const;
  // `cancelled` may be null, else the call stops when it becomes true and cancel() is called after.
  Status invoke(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled = nullptr);

  // The same with arrays in memory of the entry's device.
  Status invokeOn(int32_t entry, Tensors inputs, Tensors outputs, const GivenPlaces &places);
  // All arrays are there: enqueues the call into a stream of the caller's and waits for nothing. Everything that is
  // called later and does not go into a stream waits for its end first; the state is in use until then.
  Status enqueue(int32_t entry, Tensors inputs, Tensors outputs, std::string_view device, void *stream);
  // Waits for the end of calls in streams, as a call that is not in one has to; what they failed with is kept.
  void settleStreams();
  // Waits for calls in streams: what the first that failed since the last time failed with.
  Status waitForStreams();

  // A call that is handed over before the one before it has ended, on devices with memory of their own: its inputs come
  // while that one computes. At most two are under way, each with copies of the arrays on the device of its own.
  struct Started {
    uint32_t turn = 0;
    uint32_t entry = 0;
    Tensors outputs;
    bool usesState = false;
    RunInfo info;
  };
  bool hasMemoryOnDevices() const { return executable->takesAhead(); }
  // Of calls that a profile records none is.
  bool takesAhead() const { return hasMemoryOnDevices() && !target.isRecorded(); }
  // Whether an entry may use the state beside the calls under way.
  bool sharesState(uint32_t entry) const {
    const Entry &of = owner->program().entries[entry];
    return !of.updatesState || stateUsers == 0 || stateWrites;
  }
  // Of an entry that the arrays fit exactly. What fails has not begun.
  Status start(uint32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled,
               Executable::Behind behind, Started &call);
  bool hasEnded(const Started &call, std::chrono::nanoseconds limit) { return executable->hasEnded(call.turn, limit); }
  // In the order of their starts: waits, and moves outputs to the caller.
  Status finish(Started &call);
  void cancel(const Started &call) { executable->controlOf(call.turn).cancel(); }

  // The number that a profile gave to the submission which the next call is; 0: to none.
  void setSubmittedCall(uint64_t call) { submittedCall = call; }
  void cancel() {
    executable->cancelAll();
    if (executable->group) executable->group->interrupt({SPRIG_RT_CANCELLED, "the run was cancelled"});
  }
  // Whose rank the calls are; null: nobody's. Not during a call.
  Status setGroup(std::shared_ptr<comm::RankGroup> group);

  const Package &package() const { return *owner; }
  const std::shared_ptr<const Package> &sharedPackage() const { return owner; }
  const Pool &threads() const { return *pool; }
  const RunInfo &lastRun() const { return info; }
  Target &profileTarget() { return target; }

  Context(std::shared_ptr<const Package> package, std::shared_ptr<Pool> pool, std::shared_ptr<State> state);
  ~Context();

private:
  bool bindUsual(int32_t entry, Tensors inputs, Tensors outputs, uint32_t &chosen);
  Status allocateArenas();
  Status bindingFor(uint32_t entry, Binding *&binding);
  Status startTaken(uint32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled,
                    Executable::Behind behind, Started &call);
  Status checkGroup(const Entry &entry) const;
  bool holdState(bool writes);
  void letStateGo();
  Status enqueueTaken(int32_t entry, Tensors inputs, Tensors outputs, std::string_view device, void *stream);
  Status holdStateInStreams(const Entry &entry);
  void settle();
  void endCall(const Started &call);
  Status invokeRecorded(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled);
  // Recorded: executable->recording() is there. A parameter of the template, so that the other form has no trace of it.
  template <bool Recorded>
  Status invokeTaken(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled);
  template <bool Recorded>
  Status invokeChecked(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled);
  template <bool Recorded> Status runChoice(const Choice &choice, Tensors inputs, Tensors outputs);
  template <bool Recorded> Status runOnce(uint32_t entry, Tensors inputs, Tensors outputs, Binding::Extent extent);

  std::shared_ptr<const Package> owner;
  std::shared_ptr<Pool> pool;
  std::shared_ptr<State> state;
  std::vector<Memory> arenas;                     // by the program's devices
  std::vector<std::unique_ptr<Binding>> bindings; // by entry, made at its first run
  std::vector<std::unique_ptr<Binding>> seconds;  // of calls of turn 1, the same
  std::unique_ptr<Executable> executable;
  Places places;                      // of the call's arrays
  const GivenPlaces *given = nullptr; // during a call that names places
  bool inStreams = false;             // calls may be under way in the caller's streams
  bool streamsHoldState = false, streamsWriteState = false;
  Status failedInStreams; // not told yet
  RunInfo info;
  uint64_t submittedCall = 0;
  uint32_t lastTurn = 0;    // of the call that was started last
  uint32_t underWay = 0;    // calls that were started and have not ended
  uint32_t stateUsers = 0;  // of those
  bool stateWrites = false; // they hold it to write
  std::atomic<bool> busy{false};
  Target target; // beside `busy`, which every call touches
};

} // namespace sprig::rt::core

#endif
