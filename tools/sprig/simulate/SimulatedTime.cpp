// The critical path of a simulated call.
#include "tools/sprig/simulate/SimulateReport.h"

namespace sprig::cli {
namespace {

class PathFinder {
public:
  PathFinder(const Runner &runner, const SimulatedEntry &entry)
      : entry(entry), graph(commandGraph(runner, entry.index)) {}

  CommandPath find() {
    auto lanes = uint32_t(entry.program.lanes.size()), own = uint32_t(entry.program.packageLanes);
    std::vector<uint32_t> arrived;
    for (uint32_t lane = own; lane < lanes; ++lane) addArrays(lane, arrived);
    addCommands(arrived);
    for (uint32_t lane = own; lane < lanes; ++lane) addResults(lane);
    machine::CriticalPath found = machine::criticalPath(work);
    CommandPath path;
    path.ns = found.ns;
    for (uint32_t each : found.work) path.add(places[each]);
    return path;
  }

private:
  uint32_t add(uint32_t lane, uint32_t command, std::vector<uint32_t> after) {
    work.push_back({entry.played.commands[lane][command].length(), std::move(after)});
    places.push_back({lane, command});
    return uint32_t(work.size() - 1);
  }

  // Arrays that come: over one link, one after the other.
  void addArrays(uint32_t lane, std::vector<uint32_t> &arrived) {
    std::optional<uint32_t> last;
    for (uint32_t i = 0; i < entry.program.commands[lane].size(); ++i)
      if (isCopy(lane, i) && !isResult(lane, i))
        last = add(lane, i, last ? std::vector{*last} : std::vector<uint32_t>());
    if (last) arrived.push_back(*last);
  }

  // Arrays that go: each behind what made it and the one before.
  void addResults(uint32_t lane) {
    std::optional<uint32_t> last;
    for (uint32_t i = 0; i < entry.program.commands[lane].size(); ++i) {
      if (!isCopy(lane, i) || !isResult(lane, i)) continue;
      std::vector<uint32_t> after;
      if (last) after.push_back(*last);
      for (rt::core::CommandPlace writer : entry.program.commands[lane][i].writers)
        after.push_back(placed.at({writer.lane, writer.index}));
      last = add(lane, i, std::move(after));
    }
  }
  bool isCopy(uint32_t lane, uint32_t i) const { return entry.program.commands[lane][i].kind == SPRIG_RT_COPY; }
  // Of an output that nothing writes there is nothing to wait for.
  bool isResult(uint32_t lane, uint32_t i) const { return !entry.program.commands[lane][i].writers.empty(); }

  // All lanes begin when all arrays are there.
  void addCommands(const std::vector<uint32_t> &arrived) {
    auto first = uint32_t(work.size());
    for (size_t i = 0; i < graph.commands.size(); ++i) {
      std::vector<uint32_t> after;
      for (uint32_t each : graph.reads[i]) after.push_back(first + each);
      CommandPlaceInLane place = graph.commands[i];
      placed[{place.lane, place.command}] =
          add(place.lane, place.command + uint32_t(entry.program.inFront), after.empty() ? arrived : after);
    }
  }

  const SimulatedEntry &entry;
  CommandGraph graph;
  std::vector<machine::DependentWork> work;
  std::vector<CommandPlaceInLane> places;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> placed; // the package's commands
};

} // namespace

CommandPath pathOf(const Runner &runner, const SimulatedEntry &entry) { return PathFinder(runner, entry).find(); }

} // namespace sprig::cli
