// A stack for the signal handlers of one thread, so that one whose own stack ran out still ends with an error. A thread
// has none from the system; the compiler's recurse.
#pragma once
#include <array>
#include <memory>
#include <signal.h>

namespace sprig {

/// The thread's handlers (SA_ONSTACK) run on it from here to its end; belongs to the thread that made it.
class SignalStack {
public:
  SignalStack() {
    stack_t own = {};
    own.ss_sp = memory->data();
    own.ss_size = memory->size();
    ::sigaltstack(&own, &before);
  }
  ~SignalStack() { ::sigaltstack(&before, nullptr); }
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  using Memory = std::array<char, 1 << 16>;
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  stack_t before = {};
};

} // namespace sprig
