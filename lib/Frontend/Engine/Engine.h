// Runs what is recorded: a queue in order, a thread that empties it, a bound on what waits in it; one for each lane
// (what a device computes, the copies to it, a rank's collectives). For the recorder (which pushes work), for reading
// (which waits) and for tests. Engines are never destroyed. A task may wait for values of other lanes, if the tasks
// that compute them were pushed before it, and for other lanes to come to it, if it stands in all of them
// (MeetingTask.h): so the oldest task of all never waits for long.
#pragma once
#include "lib/Frontend/Engine/Value.h"
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace sprig::frontend {

/// A piece of work of the queue: a cut segment, a call of a compiled function.
class Task {
public:
  virtual ~Task() = default;
  /// Gives every value that it was to write a state, ready or failed. Does not throw.
  virtual void run() = 0;
};

class Engine {
public:
  /// The first device's.
  static Engine &instance() { return of(0); }
  static Engine &of(LaneId lane);
  /// Those that there are, in the order of lanes.
  static std::vector<Engine *> all();
  /// Without those of other ranks: what is in their lanes may wait for what this thread is yet to ask for.
  static std::vector<Engine *> ofThisRank();

  /// Queues work after what was queued before; makeRoom() follows where no lock is held. `wake`: whether the executor
  /// should start at once. Else it starts when more has come, or a while later: what is read before runs on the
  /// reader's thread, without two threads that hand over to each other.
  void push(std::unique_ptr<Task> task, bool wake = true);
  /// Queues a task in each of these lanes, as one: nothing is queued anywhere in between. So of all tasks, one is the
  /// older wherever they stand. `wake`: of the first.
  static void pushToEach(std::span<const LaneId> lanes, std::vector<std::unique_ptr<Task>> tasks, bool wake = true);
  /// Waits while too much is in flight in lanes that this thread has pushed to since. Not under a lock that another
  /// rank may want: what is in flight may wait for its collectives. Lanes of other ranks are not waited for.
  static void makeRoom();
  /// Returns when the value is ready or failed. The caller's thread helps: it runs tasks where the executor does not.
  void waitFor(const Value &value);
  /// The same until what tasks of this lane bring about.
  void waitFor(const std::atomic<bool> &done);
  /// The same from within a task: for values of other lanes that it reads.
  static void waitForOther(const Value &value, LaneId lane) {
    if (value.lane != lane && !value.isThere()) of(value.lane).waitFor(value);
  }
  /// Returns when everything that was pushed before has run.
  void drain();
  /// The same of all lanes of this rank.
  static void drainAll();

  /// Of every lane.
  static void setLimit(int tasks);
  static int limit();
  int inFlight() const;

  /// When its queue has last run out of tasks, since this was first asked.
  std::chrono::steady_clock::time_point ranOutAt();

  /// Called by the executor when it has nothing to do for a while; true: it shall come again.
  void setIdleHook(bool (*hook)(LaneId lane));
  /// Tells the executor that something is being recorded which nobody may cut.
  void noteRecording();

  /// Keeps the first failure that nobody has read; synchronize throws it.
  void noteFailure(const Failure &failure);
  /// It is read then, whatever lanes it was noted in.
  Failure takeFailure();
  static void forget(const Failure &failure);
  /// The first of all lanes; the others' are forgotten with it.
  static Failure takeFailureOfAny();

private:
  explicit Engine(LaneId lane);
  void enqueue(std::unique_ptr<Task> task, bool wake);
  void loop();
  /// Runs the oldest task unless another thread is running one. False when there was none to run, or when `isOver`
  /// while none runs: who holds up a task of its own must not begin one that may be younger.
  template <typename IsOver> bool runOne(IsOver isOver);
  template <typename IsOver> void helpUntil(IsOver isOver);
  bool runOne() {
    return runOne([] { return false; });
  }
  void stop();
  static void stopAll();

  const LaneId lane;
  mutable std::mutex mutex; // guards what follows
  std::condition_variable changed, finished;
  std::deque<std::unique_ptr<Task>> queue;
  uint64_t pushed = 0, done = 0;
  bool stopping = false, parked = false;
  bool urgent = false;    // something in the queue should start at once
  bool recording = false; // something may lie recorded or queued that nobody cuts or runs
  bool isTimed = false;   // whether idleSince is kept up: a clock costs a part of the smallest tasks
  std::chrono::steady_clock::time_point idleSince;
  Failure firstFailure;
  uint64_t failedAt = 0; // counts failures of all lanes
  bool (*idleHook)(LaneId) = nullptr;

  std::mutex running; // held while a task runs: tasks run one at a time, in order
  std::thread thread;
};

} // namespace sprig::frontend
