// What is left of ranks when their launcher is killed: a process that outlives the launcher kills it. For `sprig
// launch`.
#pragma once
#include <string>
#include <sys/types.h>

namespace sprig::cli {

/// A process in a session of its own, so that what ends the launcher does not end it. It knows the process groups of
/// the ranks, and by the end of a pipe that the launcher is gone. Then it kills these groups, and every process whose
/// environment has the mark, which ranks leave to all that they start, also to what has left their group.
class Guardian {
public:
  /// The variable that has the marks of the launchers above a process, the innermost last.
  static constexpr const char *kVariable = "SPRIG_LAUNCHED";

  /// Starts it; before this process has threads. Throws runtime where there can be none.
  Guardian();
  Guardian(Guardian &&) = delete;
  /// The launcher has ended its ranks itself: nothing is killed.
  ~Guardian();

  /// A process group has begun, or has ended. May be called between fork and exec.
  void add(pid_t group) const { tell(group); }
  void remove(pid_t group) const { tell(-group); }
  /// The variable of the ranks, "SPRIG_LAUNCHED=...".
  const std::string &variable() const { return setting; }

private:
  void tell(pid_t word) const;
  std::string setting;
  pid_t process = -1;
  int pipe = -1;
};

} // namespace sprig::cli
