// Ctrl-C, SIGTERM and SIGHUP while a training run goes on: the run ends behind the step under way, with a checkpoint.
// For the training loop.
#pragma once

namespace sprig::training {

/// While one lives, the first of these signals is noted; a second one ends the process at once. Loops that are threads
/// of a process note the same one.
class SignalWatch {
public:
  /// `replaces`: handlers of the program's own, which come back afterwards; else only the default action gives way. A
  /// signal that was ignored stays so.
  explicit SignalWatch(bool replaces);
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// The signal; 0: none so far.
  static int noted();
  /// Of processes that end by one's signal, the others' may still be on its way, and is no second one then: it is
  /// waited for up to the process's end.
  void awaitOwn();
};

} // namespace sprig::training
