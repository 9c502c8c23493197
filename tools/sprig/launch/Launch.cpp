// sprig launch: a command as several processes that are ranks of one group.
#include "tools/sprig/Command.h"
#include "tools/sprig/launch/Launcher.h"
#include "runtime/base/Uninterrupted.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/error.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace sprig::cli {
namespace {

void takePlace(const std::string &at, LaunchOptions &options) {
  size_t colon = at.rfind(':');
  const char *first = at.data() + colon + 1, *last = at.data() + at.size();
  auto [end, error] = std::from_chars(first, last, options.port);
  if (colon == std::string::npos || colon == 0 || error != std::errc() || end != last || options.port < 0 ||
      options.port > 65535)
    badUse("--at " + at + ": expected HOST:PORT");
  options.host = at.substr(0, colon);
  // As URLs have addresses that colons are in.
  if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']')
    options.host = options.host.substr(1, options.host.size() - 2);
}

// Machines that have a launcher each.
struct Nodes {
  int count = 1, node = 0;
};

void placeNodes(LaunchOptions &options, const Nodes &nodes, bool hasPlace) {
  if (nodes.node >= nodes.count)
    badUse("--node " + std::to_string(nodes.node) + ": nodes are 0 to " + std::to_string(nodes.count - 1));
  if (nodes.count > 1) {
    if (!hasPlace || !options.port) badUse("--nodes: where do they meet? --at HOST:PORT, of the first node");
    if (options.secret.empty()) badUse("--nodes: set SPRIG_LAUNCH_SECRET to the same text on all of them");
  }
  options.first = nodes.node * options.ranks;
  options.world = nodes.count * options.ranks;
  options.hasStore = nodes.node == 0;
}

void placeHosts(LaunchOptions &options, const std::string &hosts, const Nodes &nodes, bool hasPlace) {
  if (options.ranks) badUse("--hosts: says how many ranks there are on each, without -n");
  if (nodes.count > 1) badUse("--hosts: starts the launchers of all hosts, without --nodes");
  options.hosts = parseHosts(hosts);
  for (const LaunchHost &host : options.hosts) options.world += host.ranks;
  if (hasPlace) return;
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0)
    runtimeError("--hosts: where do they meet? --at HOST:PORT, of this machine");
  options.host = name;
}

int launch(LaunchOptions options, const Nodes &nodes, const std::string &hosts, const std::string &at) {
  if (!at.empty()) takePlace(at, options);
  if (!std::isfinite(options.heartbeat)) // which no range leaves out
    badUse("--heartbeat: expected a number of seconds, found 'nan'");
  if (!std::isfinite(options.grace)) badUse("--grace: expected a number of seconds, found 'nan'");
  if (const char *secret = std::getenv("SPRIG_LAUNCH_SECRET")) options.secret = secret;
  if (!hosts.empty())
    placeHosts(options, hosts, nodes, !at.empty());
  else if (options.ranks)
    placeNodes(options, nodes, !at.empty());
  else
    badUse("how many ranks? -n N, or --hosts HOST:N,...");
  if (options.world > rt::comm::kMostProcessRanks)
    badUse("--ranks: there are at most " + std::to_string(rt::comm::kMostProcessRanks) + " in all");
  if (options.command.empty()) badUse("command is required");
  return Launcher(options).run();
}

int launchNode(NodeJob &job) {
  std::error_code error;
  std::filesystem::current_path(job.folder, error);
  if (error) runtimeError("launch: no folder '" + job.folder + "' here: " + error.message());
  for (auto &[name, value] : job.variables) ::setenv(name.c_str(), value.c_str(), 1);
  LaunchOptions options{.command = std::move(job.command),
                        .first = job.first,
                        .ranks = job.ranks,
                        .world = job.world,
                        .hasStore = false,
                        .host = job.host,
                        .port = job.port,
                        .secret = job.secret,
                        .heartbeat = job.heartbeat,
                        .timeout = job.timeout,
                        .bindsCores = job.bindsCores,
                        .isNode = true};
  return Launcher(options).run();
}

// The launcher of one host: all it is told comes by its standard input, and what it cannot do is told by the one that
// has started it.
int launchAsNode() {
  // No byte behind the line is taken: it is the launcher's that is made here.
  std::string line;
  for (char byte; rt::core::uninterrupted([&] { return ::read(0, &byte, 1); }) == 1 && byte != '\n';) line += byte;
  NodeJob job = parseJob(line);
  try {
    return launchNode(job);
  } catch (const Error &error) {
    std::string_view why = error.what(), own = "launch: ";
    if (why.starts_with(own)) why.remove_prefix(own.size());
    tellLauncher({job.first, int(error.kind()), job.name + ": " + std::string(why)});
    return int(error.kind());
  }
}

} // namespace

void addLaunch(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<LaunchOptions>();
  auto common = std::make_shared<CommonOptions>();
  auto at = std::make_shared<std::string>(), hosts = std::make_shared<std::string>();
  auto nodes = std::make_shared<Nodes>();
  auto isNode = std::make_shared<bool>(false);
  CLI::App *command = addCommand(
      app, "launch", "start a program as several processes that are ranks of one group",
      "  sprig launch -n 2 -- train model.onnx --config train.json --x x.npy --y y.npy --strategy data\n"
      "  sprig launch -n 4 --collective-timeout 60 -- ./data_parallel\n"
      "  sprig launch --hosts a:2,b:2 --at 10.0.0.1:0 -- ./data_parallel\n"
      "  SPRIG_LAUNCH_SECRET=... sprig launch -n 2 --nodes 2 --node 0 --at 10.0.0.1:29500 -- ./data_parallel",
      *common);
  command->add_option("-n,--ranks", options->ranks, "how many processes on this machine")
      ->check(CLI::Range(1, rt::comm::kMostProcessRanks));
  command->add_option("--hosts", *hosts, "machines and how many processes on each, started from here by ssh")
      ->type_name("HOST:N,...");
  command
      ->add_option("--launch-agent", options->agent, "what reaches a host, in the place of ssh: COMMAND HOST PROGRAM")
      ->capture_default_str();
  command->add_option("--env", options->variables, "a variable that goes along to hosts, beside those of SPRIG_")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--nodes", nodes->count, "machines, each with a launcher of its own and as many processes")
      ->check(CLI::Range(1, rt::comm::kMostProcessRanks))
      ->capture_default_str();
  command->add_option("--node", nodes->node, "which of them this is; the first has the ranks' store")
      ->check(CLI::Range(0, rt::comm::kMostProcessRanks - 1))
      ->capture_default_str();
  command
      ->add_option("--at", *at, "where ranks meet, a name or address of the first node (default: this machine alone)")
      ->type_name("HOST:PORT");
  command->add_option("--heartbeat", options->heartbeat, "seconds without a sign of life after which a rank has failed")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  command
      ->add_option("--grace", options->grace,
                   "seconds in which ranks end after SIGTERM or SIGHUP, before they are killed; 0: as long as it takes")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command
      ->add_option("--collective-timeout", options->timeout,
                   "seconds that a rank waits for another; 0: as long as it takes (default: the program's, 300)")
      ->check(CLI::Range(0, 1 << 30));
  command
      ->add_option_function<std::string>(
          "--bind", [options](const std::string &to) { options->bindsCores = to == "cores"; },
          "cores: each process runs on its share of the cores alone; none: wherever the system puts it (default)")
      ->check(CLI::IsMember({"cores", "none"}));
  command->add_option("command", options->command,
                      "the program and its arguments, after --; `train`, `profile`, `run` and `bench` are this one's");
  command->add_flag("--as-node", *isNode)->group(""); // what another launcher starts
  command->callback([=, &invocation] {
    if (common->json()) badUse("--format json: launch has no results of its own; give it to the program, behind --");
    invocation.run = [=] { return *isNode ? launchAsNode() : launch(*options, *nodes, *hosts, *at); };
  });
}

} // namespace sprig::cli
