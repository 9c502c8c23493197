// The signals that ask a command to end: Ctrl-C, a closed terminal, the system's request.
#pragma once
#include <csignal>

namespace sprig::cli {

/// As shells count: 130 after Ctrl-C, 129 after a closed terminal (SIGHUP), 143 after SIGTERM.
constexpr int exitCodeOf(int signal) { return 128 + signal; }
constexpr bool isInterrupted(int code) { return code > 128; }

/// Installs a handler. A SIGHUP that was ignored when the program started
/// (`nohup`) stays ignored, and so does a SIGTSTP (a shell without jobs).
inline void handleInterrupt(int signal, void (*handler)(int)) {
  struct sigaction before = {}, action = {};
  ::sigaction(signal, nullptr, &before);
  if ((signal == SIGHUP || signal == SIGTSTP) && before.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

} // namespace sprig::cli
