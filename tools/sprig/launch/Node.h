// A launcher on another host, started by this one over `ssh` or the like: what it is told and what it tells.
//
// Nothing of a job is on a command line: it goes over the other's standard input as a line of JSON, the secret with it.
// Then each line there is the number of a signal; its end means that this launcher is gone. A line of the other's
// standard output that begins with kNews is news of its ranks; all else is theirs.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::cli {

struct LaunchHost {
  std::string name;
  int ranks = 1;
};

/// "a:2,b:2"; without a number it is one rank. Throws usage.
std::vector<LaunchHost> parseHosts(const std::string &text);

/// What one host does of a launch.
struct NodeJob {
  std::string name; ///< the host's, as it was given
  std::vector<std::string> command;
  std::string folder; ///< where it is started
  int first = 0, ranks = 1, world = 1;
  std::string host; ///< where the store is
  int port = 0;
  std::string secret;
  double heartbeat = 10;
  std::optional<int> timeout;
  bool bindsCores = false;
  std::map<std::string, std::string> variables; ///< of the environment, that are passed on
};

/// Of a rank on a host: that it has failed, as the first there, or, without a reason, that it has ended well. What
/// keeps the host from starting its ranks is its first one's.
struct NodeNews {
  int rank = 0;
  int code = 0; ///< its exit code, as shells count; 0 where it was not its own end
  std::string why;
};

constexpr char kNews = '\x01';

std::string toLine(const NodeJob &job);
std::string toLine(const NodeNews &news);
/// By standard output, to the launcher that has started this one.
void tellLauncher(const NodeNews &news);
/// Without the line's end. Throws bad input.
NodeJob parseJob(std::string_view line);
std::optional<NodeNews> parseNews(std::string_view line);

/// The variables that go along: those whose names begin with SPRIG_, and the named ones, which have to be set.
std::map<std::string, std::string> variablesFor(const std::vector<std::string> &names);

/// agent HOST PROGRAM launch --as-node: what starts the other launcher, in words.
std::vector<std::string> agentCommand(const std::string &agent, const std::string &host);

} // namespace sprig::cli
