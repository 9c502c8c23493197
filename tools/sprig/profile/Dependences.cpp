#include "tools/sprig/profile/Dependences.h"
#include "runtime/api/Handles.h"
#include "runtime/load/Verify.h"
#include <algorithm>
#include <map>
#include <span>

namespace sprig::cli {
namespace {

namespace order = rt::order;

// Who wrote which bytes of a space last: by their begins, apart from each other.
class LastWriters {
public:
  void write(uint64_t begin, uint64_t end, uint32_t who) {
    cut(begin);
    cut(end);
    stretches.erase(stretches.lower_bound(begin), stretches.lower_bound(end));
    stretches[begin] = {end, who};
  }
  template <typename F> void forEach(uint64_t begin, uint64_t end, F f) const {
    auto at = stretches.upper_bound(begin);
    if (at != stretches.begin()) --at;
    for (; at != stretches.end() && at->first < end; ++at)
      if (at->second.end > begin) f(at->second.who);
  }

private:
  struct Stretch {
    uint64_t end;
    uint32_t who;
  };
  void cut(uint64_t at) {
    auto next = stretches.upper_bound(at);
    if (next == stretches.begin()) return;
    auto &[begin, stretch] = *std::prev(next);
    if (begin == at || stretch.end <= at) return;
    stretches[at] = stretch;
    stretch.end = at;
  }
  std::map<uint64_t, Stretch> stretches;
};

} // namespace

CommandGraph commandGraph(const Runner &runner, uint32_t entry) {
  const rt::core::Program &program = runner.package()->package->program();
  order::Schedule schedule = rt::core::scheduleOf(program.entries[entry], program);
  CommandGraph graph;
  std::map<uint32_t, LastWriters> spaces;
  order::HappensBefore happensBefore(schedule);
  for (uint32_t number : happensBefore.order()) {
    auto lane = uint32_t(std::upper_bound(schedule.laneEnds.begin(), schedule.laneEnds.end(), number) -
                         schedule.laneEnds.begin());
    auto self = uint32_t(graph.commands.size());
    graph.commands.push_back({lane, number - (lane ? schedule.laneEnds[lane - 1] : 0)});
    std::vector<uint32_t> &reads = graph.reads.emplace_back();
    const order::Command &command = schedule.commands[number];
    auto accesses = std::span(schedule.accesses).subspan(command.firstAccess, command.accessCount);
    for (bool writes : {false, true})
      for (const order::Access &access : accesses) {
        const order::Region &region = schedule.regions[access.region];
        if (access.writes != writes || region.begin >= region.end) continue;
        LastWriters &writers = spaces[region.space];
        if (writes)
          writers.write(region.begin, region.end, self);
        else
          writers.forEach(region.begin, region.end, [&](uint32_t who) { reads.push_back(who); });
      }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  }
  return graph;
}

void CommandPath::add(const CommandPlaceInLane &command) {
  commands.push_back(command);
  all.insert(command);
}

CommandPath criticalPathOf(const CommandGraph &graph,
                           const std::function<double(uint32_t lane, uint32_t command)> &ns) {
  std::vector<machine::DependentWork> work;
  for (size_t i = 0; i < graph.commands.size(); ++i)
    work.push_back({ns(graph.commands[i].lane, graph.commands[i].command), graph.reads[i]});
  machine::CriticalPath found = machine::criticalPath(work);
  CommandPath path;
  path.ns = found.ns;
  for (uint32_t each : found.work) path.add(graph.commands[each]);
  return path;
}

} // namespace sprig::cli
