// What bounds simulated calls: the critical path of one and what their time goes to.
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/simulate/SimulateReport.h"

namespace sprig::cli {
namespace {

class PathFinder {
public:
  PathFinder(const Runner &runner, const SimulatedEntry &entry)
      : entry(entry), graph(commandGraph(runner, entry.index)) {}

  CommandPath find() {
    auto lanes = uint32_t(entry.program.lanes.size()), own = uint32_t(entry.program.packageLanes);
    std::vector<uint32_t> arrived, ends;
    for (uint32_t lane = own; lane < lanes; ++lane) addArrays(lane, true, {}, &arrived);
    addCommands(arrived, ends);
    for (uint32_t lane = own; lane < lanes; ++lane) addArrays(lane, false, ends, nullptr);
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

  // Copies in front of the lane's wait for the end, or those behind it: over one link, one after the other.
  void addArrays(uint32_t lane, bool inFront, std::vector<uint32_t> after, std::vector<uint32_t> *last) {
    bool isInFront = true;
    const auto &commands = entry.program.commands[lane];
    for (uint32_t i = 0; i < commands.size(); ++i) {
      isInFront &= commands[i].kind != SPRIG_RT_WAIT;
      if (commands[i].kind == SPRIG_RT_COPY && isInFront == inFront) after = {add(lane, i, std::move(after))};
    }
    if (last) last->insert(last->end(), after.begin(), after.end());
  }

  // All lanes begin when all arrays are there.
  void addCommands(const std::vector<uint32_t> &arrived, std::vector<uint32_t> &ends) {
    auto first = uint32_t(work.size());
    std::vector<bool> isRead(graph.commands.size(), false);
    for (size_t i = 0; i < graph.commands.size(); ++i) {
      std::vector<uint32_t> after;
      for (uint32_t each : graph.reads[i]) {
        after.push_back(first + each);
        isRead[each] = true;
      }
      add(graph.commands[i].lane, graph.commands[i].command + uint32_t(entry.program.inFront),
          after.empty() ? arrived : after);
    }
    for (uint32_t i = 0; i < isRead.size(); ++i)
      if (!isRead[i]) ends.push_back(first + i);
  }

  const SimulatedEntry &entry;
  CommandGraph graph;
  std::vector<machine::DependentWork> work;
  std::vector<CommandPlaceInLane> places;
};

} // namespace

CommandPath pathOf(const Runner &runner, const SimulatedEntry &entry) { return PathFinder(runner, entry).find(); }

machine::TimeShares sharesOf(const machine::Topology &topology, const SimulatedEntry &entry) {
  std::vector<machine::Span> computing, copying, loading;
  for (const auto &busy : entry.played.deviceBusy) computing.insert(computing.end(), busy.begin(), busy.end());
  const auto &lanes = entry.program.program.lanes;
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    for (size_t i = 0; i < lanes[lane].commands.size(); ++i) {
      const machine::SimulatedCommand &command = lanes[lane].commands[i];
      if (command.kind != machine::SimulatedCommand::Kind::copy) continue;
      bool isStored = topology.nodes[command.from].kind == machine::NodeKind::storage;
      (isStored ? loading : copying).push_back(entry.played.commands[lane][i]);
    }
  return sharesOfAll(entry.calls, machine::timeShares({0, entry.played.ns}, std::move(computing), std::move(copying),
                                                      std::move(loading)));
}

} // namespace sprig::cli
