// Which commands of an entry need what which others have computed, and the chain of them that takes longest.
// For sprig profile and sprig simulate. Order that lanes and reused memory bring in does not count: another schedule
// could do without.
#pragma once
#include "lib/Machine/CriticalPath.h"
#include "tools/sprig/run/Runner.h"
#include <functional>
#include <set>
#include <vector>

namespace sprig::cli {

struct CommandPlaceInLane {
  uint32_t lane = 0, command = 0;
  auto operator<=>(const CommandPlaceInLane &) const = default;
};

/// Dispatches and copies of an entry, in an order in which they can run, each with those in front whose results it
/// reads.
struct CommandGraph {
  std::vector<CommandPlaceInLane> commands;
  std::vector<std::vector<uint32_t>> reads;
};
CommandGraph commandGraph(const Runner &runner, uint32_t entry);

struct CommandPath {
  double ns = 0;
  std::vector<CommandPlaceInLane> commands; ///< from the first to the last
  bool has(uint32_t lane, uint32_t command) const { return all.count({lane, command}) > 0; }
  void add(const CommandPlaceInLane &command);

private:
  std::set<CommandPlaceInLane> all;
};
/// By what each command takes.
CommandPath criticalPathOf(const CommandGraph &graph, const std::function<double(uint32_t lane, uint32_t command)> &ns);

} // namespace sprig::cli
