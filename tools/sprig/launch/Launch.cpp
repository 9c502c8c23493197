// sprig launch: a command as several processes that are ranks of one group.
#include "tools/sprig/Command.h"
#include "tools/sprig/launch/Launcher.h"
#include "sprig/error.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace sprig::cli {
namespace {

constexpr int kMostRanks = 1024;

void takePlace(const std::string &at, LaunchOptions &options) {
  size_t colon = at.rfind(':');
  const char *first = at.data() + colon + 1, *last = at.data() + at.size();
  auto [end, error] = std::from_chars(first, last, options.port);
  if (colon == std::string::npos || colon == 0 || error != std::errc() || end != last || options.port < 0 ||
      options.port > 65535)
    throw Error(ErrorKind::usage, "--at " + at + ": expected HOST:PORT");
  options.host = at.substr(0, colon);
  // As URLs have addresses that colons are in.
  if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']')
    options.host = options.host.substr(1, options.host.size() - 2);
}

int launch(LaunchOptions options, const std::string &at) {
  if (!at.empty()) takePlace(at, options);
  if (!std::isfinite(options.heartbeat)) // which no range leaves out
    throw Error(ErrorKind::usage, "--heartbeat: expected a number of seconds, found 'nan'");
  if (options.node >= options.nodes)
    throw Error(ErrorKind::usage,
                "--node " + std::to_string(options.node) + ": nodes are 0 to " + std::to_string(options.nodes - 1));
  if (options.nodes > 1) {
    if (at.empty() || !options.port)
      throw Error(ErrorKind::usage, "--nodes: where do they meet? --at HOST:PORT, of the first node");
    if (const char *secret = std::getenv("SPRIG_LAUNCH_SECRET"); !secret || !*secret)
      throw Error(ErrorKind::usage, "--nodes: set SPRIG_LAUNCH_SECRET to the same text on all of them");
  }
  if (options.ranks * options.nodes > kMostRanks)
    throw Error(ErrorKind::usage, "--ranks: there are at most " + std::to_string(kMostRanks) + " in all");
  // A command of this program needs no name of it.
  if (options.command.front() == "train" || options.command.front() == "profile")
    options.command.insert(options.command.begin(), "/proc/self/exe");
  return Launcher(options).run();
}

} // namespace

void addLaunch(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<LaunchOptions>();
  auto common = std::make_shared<CommonOptions>();
  auto at = std::make_shared<std::string>();
  CLI::App *command = addCommand(
      app, "launch", "start a program as several processes that are ranks of one group",
      "  sprig launch -n 2 -- train model.onnx --config train.json --x x.npy --y y.npy --strategy data\n"
      "  sprig launch -n 4 --collective-timeout 60 -- ./data_parallel\n"
      "  SPRIG_LAUNCH_SECRET=... sprig launch -n 2 --nodes 2 --node 0 --at 10.0.0.1:29500 -- ./data_parallel",
      *common);
  command->add_option("-n,--ranks", options->ranks, "how many processes on this machine")
      ->required()
      ->check(CLI::Range(1, kMostRanks));
  command->add_option("--nodes", options->nodes, "machines, each with a launcher of its own and as many processes")
      ->check(CLI::Range(1, kMostRanks))
      ->capture_default_str();
  command->add_option("--node", options->node, "which of them this is; the first has the ranks' store")
      ->check(CLI::Range(0, kMostRanks - 1))
      ->capture_default_str();
  command
      ->add_option("--at", *at, "where ranks meet, a name or address of the first node (default: this machine alone)")
      ->type_name("HOST:PORT");
  command->add_option("--heartbeat", options->heartbeat, "seconds without a sign of life after which a rank has failed")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  command
      ->add_option("--collective-timeout", options->timeout,
                   "seconds that a rank waits for another; 0: as long as it takes (default: the program's, 300)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("command", options->command, "the program and its arguments, after --; `train` is this one's")
      ->required();
  command->callback([=, &invocation] {
    (void)common;
    invocation.run = [=] { return launch(*options, *at); };
  });
}

} // namespace sprig::cli
