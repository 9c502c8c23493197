// A subcommand of the command line: it adds its flags to the parser and runs when it was chosen.
// Commands throw sprig::Error; main turns it into the one error block and the exit code of docs/cli.md.
#pragma once
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace sprig::cli {

inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;

/// What every command has: output format and how much to say.
struct CommonOptions {
  std::string format = "text";
  bool json() const { return format == "json"; }
};

/// A command that was chosen sets `run`; main calls it after parsing and exits with what it returns.
struct Invocation {
  std::function<int()> run;
};

using AddSubcommand = void(CLI::App &app, Invocation &invocation);
AddSubcommand addRun, addCompile, addCheck, addInspect, addLaunch, addDevices, addOps, addBench, addShard, addQuantize,
    addProfile, addSimulate, addTrain;

/// A subcommand with --format, -q and -v, and with two examples in its help.
CLI::App *addCommand(CLI::App &app, const std::string &name, const std::string &summary, const std::string &examples,
                     CommonOptions &common);
/// What the command runs where it is chosen.
void onRun(CLI::App &command, Invocation &invocation, std::function<int()> body);

} // namespace sprig::cli
