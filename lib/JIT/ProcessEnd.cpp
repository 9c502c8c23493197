#include "lib/JIT/ProcessEnd.h"
#include "sprig/error.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

using namespace sprig;

namespace {
struct Uses {
  std::mutex mutex; // of what follows
  std::condition_variable changed;
  int count = 0;
  bool hasEnded = false;
  const pid_t process = getpid();
  uint64_t begun = 0, registered = 0; // uses so far; their number when exit() was last asked for a call
  std::atomic<void (*)()> hook{nullptr};
};

// Never destroyed: what comes last still asks.
Uses &uses() {
  static auto &all = *new Uses;
  return all;
}

constinit thread_local int usesOfThread = 0;

// MLIR has thread-local objects, too. Made behind those of a first use, this goes before them.
constinit thread_local bool hasThreadEnded = false;
struct ThreadMark {
  ~ThreadMark() { hasThreadEnded = true; }
};
} // namespace

void ProcessEnd::setHook(void (*hook)()) { uses().hook = hook; }

void ProcessEnd::begin() {
  Uses &all = uses();
  if (auto hook = all.hook.load()) hook();
  std::unique_lock lock(all.mutex);
  all.hasEnded = true;
  // A child that was forked has none of its parent's threads. Its own use is of a caller of exit() within a
  // compilation.
  if (all.process == getpid()) all.changed.wait(lock, [&] { return all.count == usesOfThread; });
}

// exit() destroys what was made last first, so each use, which may make static objects, is followed by a call of
// `begin` that comes before them. Programs that compile all the time have made them all after a while.
void ProcessEnd::registerAtExit() {
  Uses &all = uses();
  {
    std::lock_guard lock(all.mutex);
    bool isDue = all.begun < 1024 || (all.begun & (all.begun - 1)) == 0;
    if (all.hasEnded || !isDue || (all.registered == all.begun && all.registered != 0)) return;
    all.registered = all.begun;
  }
  std::atexit(begin);
}

void ProcessEnd::watchThread() {
  // The thread that calls exit() destroys its own objects before all static ones. Other threads than the first end
  // without it, too: they only see to it that `begin` is called before what has been made meanwhile is destroyed.
  struct Watch {
    bool isFirst = gettid() == getpid();
    ~Watch() { isFirst ? begin() : registerAtExit(); }
  };
  thread_local Watch watch;
  (void)watch;
  static bool isRegistered = std::atexit(begin) == 0;
  (void)isRegistered;
}

// The first thread may leave all work with the library to others.
[[maybe_unused]] static const bool isFirstThreadWatched = (ProcessEnd::watchThread(), true);

CompilerUse::CompilerUse() {
  ProcessEnd::watchThread();
  Uses &all = uses();
  std::lock_guard lock(all.mutex);
  if (all.hasEnded)
    runtimeError("the process is ending, and nothing can be compiled any more; compute it before "
                 "main() returns, or exit() is called");
  if (hasThreadEnded)
    runtimeError("this thread is ending, and compiles nothing any more; compute it before it returns");
  ++all.count;
  ++all.begun;
  ++usesOfThread;
}

CompilerUse::~CompilerUse() {
  thread_local ThreadMark mark;
  (void)mark;
  ProcessEnd::registerAtExit();
  Uses &all = uses();
  std::lock_guard lock(all.mutex);
  --all.count;
  --usesOfThread;
  all.changed.notify_all();
}
