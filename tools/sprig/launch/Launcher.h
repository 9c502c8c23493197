// Ranks as processes of this machine, from their start to their end: the first that fails ends all.
// For `sprig launch`.
#pragma once
#include "runtime/comm/store/Store.h"
#include "tools/sprig/launch/RankProcess.h"
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct LaunchOptions {
  std::vector<std::string> command;
  int ranks = 0; ///< processes that are started here
  int nodes = 1, node = 0;
  std::string host = "127.0.0.1"; ///< where the first node has the store
  int port = 0;                   ///< 0: a free one
  double heartbeat = 10;          ///< seconds
  std::optional<int> timeout;     ///< seconds, of collectives
};

class Launcher {
public:
  explicit Launcher(const LaunchOptions &options);

  /// Returns the exit code: that of the first rank that failed.
  int run();

private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::string> variablesOf(int local) const;
  void print(int rank, RankProcess::Stream stream, const std::string &line);
  void release();
  void suspend();
  bool step();
  void fail(int rank, const std::string &why);
  void stop();
  int end();
  /// The rank whose fault it is that the group has failed, or -1; `why` says what is known.
  int blamed(std::string &why) const;
  int firstRank() const { return options.node * options.ranks; }
  RankProcess *processOf(int rank);

  const LaunchOptions &options;
  std::string secret;
  std::unique_ptr<rt::comm::Store> store; ///< of the first node
  std::vector<std::unique_ptr<RankProcess>> processes;
  std::optional<Clock::time_point> stopsAt;
  bool hasAsked = false;
  bool isUnread = false; ///< whether nobody reads standard output any more
  int firstFailed = -1;     ///< of this machine's ranks
  std::string firstFailure; ///< what became of it
  std::vector<int> codes;   ///< exit codes of this machine's ranks that have ended by themselves; 0 of others
  struct Line {
    int rank;
    std::string text;
  };
  std::vector<Line> held; ///< errors of ranks that only follow from another's, which comes first
};

} // namespace sprig::cli
