#include "lib/TrainLoop/Signals.h"
#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>

namespace sprig::training {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> interrupted{0};

std::mutex mutex; // of what follows
int watches = 0;
bool isAwaited = false;
struct sigaction before[std::size(kSignals)];
bool isSet[std::size(kSignals)];

} // namespace

SignalWatch::SignalWatch(bool replaces) {
  std::lock_guard lock(mutex);
  if (watches++) return;
  interrupted = 0;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    isSet[i] = replaces ? before[i].sa_handler != SIG_IGN : before[i].sa_handler == SIG_DFL;
    if (!isSet[i]) continue;
    struct sigaction action = {};
    action.sa_handler = [](int signal) { interrupted = signal; };
    action.sa_flags = int(SA_RESETHAND) | SA_RESTART;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  std::lock_guard lock(mutex);
  if (--watches || isAwaited) return;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (isSet[i]) ::sigaction(kSignals[i], &before[i], nullptr);
}

int SignalWatch::noted() { return interrupted; }

void SignalWatch::awaitOwn() {
  std::lock_guard lock(mutex);
  isAwaited |= interrupted == 0;
}

} // namespace sprig::training
