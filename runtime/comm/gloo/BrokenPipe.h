// Gloo writes to connections that may have ended, without a word that it wants an error instead of a signal.
#ifndef SPRIG_RUNTIME_COMM_GLOO_BROKENPIPE_H
#define SPRIG_RUNTIME_COMM_GLOO_BROKENPIPE_H

#include <csignal>
#include <ctime>

namespace sprig::rt::comm {

// While it lives, this thread gets no SIGPIPE, nor do threads that it starts, ever.
class WithoutBrokenPipe {
public:
  WithoutBrokenPipe() {
    sigset_t pending;
    ::sigpending(&pending);
    wasPending = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~WithoutBrokenPipe() {
    constexpr timespec kNow = {};
    if (!wasPending)
      while (::sigtimedwait(&pipe, nullptr, &kNow) > 0) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  WithoutBrokenPipe(const WithoutBrokenPipe &) = delete;
  WithoutBrokenPipe &operator=(const WithoutBrokenPipe &) = delete;

private:
  sigset_t pipe, before;
  bool wasPending;
};

} // namespace sprig::rt::comm

#endif
