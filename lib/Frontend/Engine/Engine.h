// Runs what is recorded: one queue in order, one thread that empties it, a bound on what waits in it.
// For the recorder (which pushes work), for reading (which waits) and for tests. One engine a process, never destroyed.
#pragma once
#include "lib/Frontend/Engine/Value.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

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
  static Engine &instance();

  /// Queues work after what was queued before; waits while too much is in flight. `wake`: whether the executor should
  /// start at once. Else it starts when more has come, or a while later: what is read before runs on the reader's
  /// thread, without two threads that hand over to each other.
  void push(std::unique_ptr<Task> task, bool wake = true);
  /// Returns when the value is ready or failed. The caller's thread helps: it runs tasks where the executor does not.
  void waitFor(const Value &value);
  /// Returns when everything that was pushed before has run.
  void drain();

  void setLimit(int tasks);
  int limit() const;
  int inFlight() const;

  /// Called by the executor when it has nothing to do for a while; true: it shall come again.
  void setIdleHook(bool (*hook)());
  /// Tells the executor that something is being recorded which nobody may cut.
  void noteRecording();

  /// Keeps the first failure that nobody has read; synchronize throws it.
  void noteFailure(const Failure &failure);
  Failure takeFailure();

private:
  Engine();
  void loop();
  /// Runs the oldest task unless another thread is running one. False when there was none to run.
  bool runOne();
  void stop();

  mutable std::mutex mutex; // guards what follows
  std::condition_variable changed, finished;
  std::deque<std::unique_ptr<Task>> queue;
  uint64_t pushed = 0, done = 0;
  int most = 32;
  bool stopping = false, parked = false;
  bool urgent = false;    // something in the queue should start at once
  bool recording = false; // something may lie recorded or queued that nobody cuts or runs
  Failure firstFailure;
  bool (*idleHook)() = nullptr;

  std::mutex running; // held while a task runs: tasks run one at a time, in order
  std::thread thread;
};

} // namespace sprig::frontend
