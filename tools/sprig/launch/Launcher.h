// Ranks as processes, of this machine or of hosts, from their start to their end: the first that fails ends all.
// For `sprig launch`.
#pragma once
#include "runtime/comm/store/Store.h"
#include "tools/sprig/launch/Guardian.h"
#include "tools/sprig/launch/Node.h"
#include "tools/sprig/launch/RankProcess.h"
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct LaunchOptions {
  std::vector<std::string> command;
  int first = 0, ranks = 0; ///< processes that are started here
  int world = 0;            ///< of all machines
  bool hasStore = true;
  std::string host = "127.0.0.1";          ///< where the store is
  int port = 0;                            ///< 0: a free one
  std::string secret;                      ///< "": a random text
  double heartbeat = 10;                   ///< seconds
  double grace = 30;                       ///< seconds from a signal to the end of who is still there; 0: none
  std::optional<int> timeout;              ///< seconds, of collectives
  std::vector<LaunchHost> hosts = {};      ///< where ranks are started in place of here
  std::string agent = "ssh";               ///< what reaches them
  std::vector<std::string> variables = {}; ///< names of those that go along to hosts
  bool bindsCores = false;                 ///< each process to its share of the cores
  bool isNode = false;                     ///< of a launcher elsewhere, which hears and tells (Node.h)
};

class Launcher {
public:
  explicit Launcher(const LaunchOptions &options);

  /// Returns the exit code: that of the first rank that failed.
  int run();

private:
  using Clock = std::chrono::steady_clock;
  /// A rank, or the launcher of those of a host.
  struct Member {
    std::unique_ptr<RankProcess> process;
    int first, ranks;
    bool isHost;
    std::optional<Clock::time_point> hungUpAt = {}; ///< a host's launcher
    bool holds(int rank) const { return rank >= first && rank < first + ranks; }
    /// To its processes; a launcher on another host passes it on.
    void pass(int signal) const;
    /// At once; a launcher on another host is let go first, and so kills its ranks and what they have started.
    void kill();
  };

  void start();
  void startHosts();
  std::vector<std::string> variablesOf(int local) const;
  void print(const Member &member, RankProcess::Stream stream, const std::string &line);
  void release();
  void suspend();
  void stopRanks(bool stops);
  bool step();
  void hear();
  void watch(Member &member);
  void passOn();
  void endLate();
  void fail(int rank, const std::string &why, int code);
  void stop();
  int end();
  /// The rank whose fault it is that the group has failed, or -1; `why` says what is known.
  int blamed(std::string &why) const;
  const Member *memberOf(int rank) const;

  const LaunchOptions &options;
  std::string secret;
  Guardian guardian;
  std::unique_ptr<rt::comm::Store> store;
  std::vector<Member> members;
  std::optional<Clock::time_point> stopsAt;
  std::optional<Clock::time_point> killsAt; ///< who has not ended after a signal
  bool hasAsked = false;
  bool isSuspended = false; ///< whether the launcher elsewhere has stopped these ranks
  int passedOn = 0;         ///< signals
  std::string heard;        ///< of a launcher elsewhere: the begin of a line
  bool isAlone = false;     ///< that one is gone
  int firstFailed = -1;     ///< of the ranks whose processes are watched
  std::string firstFailure; ///< what became of it
  std::map<int, int>
      codes; ///< of those that have failed before they were asked to end: exit codes, 0 where there is none
  struct Line {
    int rank;
    std::string text;
  };
  std::vector<Line> held; ///< errors of ranks that only follow from another's, which comes first
};

} // namespace sprig::cli
