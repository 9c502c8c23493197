// A process that is a rank, or the launcher of ranks on another host: started with what it is told by its environment,
// and what it writes, line by line. For `sprig launch`.
#pragma once
#include "tools/sprig/launch/Guardian.h"
#include <chrono>
#include <functional>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sprig::cli {

class RankProcess {
public:
  /// Standard output or error, and a whole line without its end.
  enum class Stream { output, errors };
  using Take = std::function<void(int rank, Stream stream, const std::string &line)>;

  /// The name is for errors: "rank 1".
  RankProcess(int rank, std::string name, const Guardian &guardian)
      : rank(rank), name(std::move(name)), guardian(guardian) {}
  RankProcess(RankProcess &&) = delete;
  /// Kills it where it still runs.
  ~RankProcess();

  /// `variables` are set over this process's environment. Throws usage where the command cannot be started, runtime
  /// where no process can be.
  /// `input`: what it reads first; it may be told more. Empty: it reads nothing. Null: the first rank
  /// reads what this process does. `cores`: what it is bound to; null: what this process is.
  void start(const std::vector<std::string> &command, std::vector<std::string> variables,
             const std::string *input = nullptr, const cpu_set_t *cores = nullptr);
  bool isRunning() const { return running; }
  /// Whether it has ended since the last time it was asked.
  bool hasJustEnded();
  /// Since when it has been stopped (SIGSTOP, a debugger), where it is.
  const std::optional<std::chrono::steady_clock::time_point> &stoppedSince() const { return stopped; }
  int exitStatus() const { return status; }
  /// "rank 1 was killed by signal 9 (Killed)", "rank 1 has ended with exit code 3"
  std::string endText() const;
  /// A line of its input, if it takes it.
  void tell(const std::string &line) const;
  /// Ends its input.
  void hangUp();
  /// To it and what it has started.
  void signal(int number) const;

  /// What it has written since the last time; all that is left where it has ended.
  void read(const Take &take);
  /// Both ends, to be polled; -1 where one has ended.
  const int *pipes() const { return ends; }

private:
  int rank;
  std::string name;
  const Guardian &guardian;
  pid_t pid = -1;
  int input = -1;
  bool running = false;
  int status = 0;
  std::optional<std::chrono::steady_clock::time_point> stopped;
  int ends[2] = {-1, -1};
  std::string begun[2]; ///< lines without an end yet
};

} // namespace sprig::cli
