#include "lib/Machine/Simulator.h"
#include "include/sprig/error.h"
#include "lib/Machine/FairShares.h"
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace sprig::machine {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What a lane is at. A wait that is over takes a while until the lane knows (told). A copy waits for a channel of a
// storage, then for its first byte, which takes the channel, then its bytes flow.
struct Activity {
  enum class Stage : uint8_t { idle, blocked, told, work, queued, latency, flow, done };
  Stage stage = Stage::idle;
  double left = 0;     // at `since`: nanoseconds of work, or bytes
  double since = 0;    // a change of the rate, or the begin of the stage
  double rate = 0;     // of work per nanosecond, of bytes per second
  double end = kNever; // at this rate
  double flowBegin = 0;
  uint64_t order = 0; // in which copies began
  double latencyNs = 0;
  std::vector<uint32_t> resources;

  // Only where the rate is another one: what is never disturbed ends exactly when it should.
  void setRate(double now, double newRate) {
    if (newRate == rate) return;
    double unit = stage == Stage::flow ? 1e9 : 1;
    left = std::max(0.0, left - (now - since) * rate / unit);
    since = now;
    rate = newRate;
    end = now + left * unit / rate;
  }
};

// What a direction of a link lets pass at once: it fills at the link's rate, and bytes that pass take theirs from it.
struct Bucket {
  uint32_t resource;
  double most, rate, left; // bytes, and bytes a second
  double flow = 0, since = 0;
  double empty = kNever; // when nothing is left, at this flow

  void settle(double now) {
    left = now >= empty ? 0 : std::clamp(left + (rate - flow) * (now - since) / 1e9, 0.0, most);
    since = now;
  }
  void draw(double newFlow, double now) {
    flow = newFlow;
    empty = left > 0 && flow > rate ? now + left / (flow - rate) * 1e9 : kNever;
  }
};

class Player {
public:
  Player(const Topology &topology, const SimulatedProgram &program)
      : topology(topology), program(program), lanes(program.lanes.size()), at(program.lanes.size(), 0),
        recordedAt(program.events, kNever), inUse(topology.nodes.size(), 0), busy(topology.nodes.size()),
        uses(2 * topology.links.size()) {
    for (const SimulatedLane &lane : program.lanes) {
      result.commands.emplace_back(lane.commands.size());
      commandsLeft += lane.commands.size();
    }
    // Two directions of each link, then reads and writes of each node.
    for (const TopologyLink &link : topology.links)
      capacities.insert(capacities.end(), 2, link.totalRate().bytesPerSecond());
    for (const Node &node : topology.nodes) {
      capacities.push_back(node.bandwidth.bytesPerSecond());
      capacities.push_back(node.write.bytesPerSecond());
    }
    for (uint32_t resource = 0; resource < 2 * topology.links.size(); ++resource)
      if (double most = topology.links[resource / 2].totalBurst())
        buckets.push_back({resource, most, capacities[resource], program.followsItself ? 0 : most});
  }

  Simulation play() {
    for (;;) {
      advanceLanes();
      if (sharesChanged) share();
      double next = kNever;
      for (const Activity &lane : lanes) next = std::min(next, lane.end);
      for (const Bucket &bucket : buckets) next = std::min(next, bucket.empty);
      if (next == kNever) break;
      now = next;
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        if (lanes[lane].end <= now) finish(lane);
      for (Bucket &bucket : buckets) sharesChanged |= bucket.empty <= now;
    }
    if (commandsLeft > 0) refuseStuck();
    return report();
  }

private:
  using Stage = Activity::Stage;
  using Kind = SimulatedCommand::Kind;

  const SimulatedCommand &commandOf(size_t lane) const { return program.lanes[lane].commands[at[lane]]; }

  // Each lane as far as it comes without time going by; an event may let another one on.
  void advanceLanes() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        while (lanes[lane].stage <= Stage::blocked && begin(lane)) moved = true;
      moved |= openChannels();
    }
  }

  // False where the lane has ended, or has to wait for an event.
  bool begin(size_t lane) {
    Activity &activity = lanes[lane];
    if (at[lane] == program.lanes[lane].commands.size()) {
      activity.stage = Stage::done;
      return false;
    }
    const SimulatedCommand &command = commandOf(lane);
    if (activity.stage == Stage::idle) result.commands[lane][at[lane]].begin = now;
    switch (command.kind) {
    case Kind::record: recordedAt[command.event] = now; break;
    case Kind::wait:
      if (recordedAt[command.event] == kNever) {
        activity.stage = Stage::blocked;
        return false;
      }
      if (recordedAt[command.event] + command.ns <= now) break;
      activity.stage = Stage::told;
      activity.end = recordedAt[command.event] + command.ns;
      return true;
    case Kind::work:
      activity = {};
      activity.stage = Stage::work;
      activity.left = command.ns;
      activity.since = now;
      sharesChanged = true;
      return true;
    case Kind::copy: beginCopy(lane); return true;
    }
    endCommand(lane);
    return true;
  }

  void endCommand(size_t lane) {
    if (const std::optional<uint32_t> &ended = commandOf(lane).ended) recordedAt[*ended] = now;
    result.commands[lane][at[lane]].end = now;
    ++at[lane];
    --commandsLeft;
    lanes[lane] = {};
  }

  void beginCopy(size_t lane) {
    const SimulatedCommand &command = commandOf(lane);
    Activity &activity = lanes[lane];
    activity = {};
    activity.stage = Stage::queued;
    activity.order = ++copies;
    activity.left = command.bytes;
    const std::vector<Hop> &way = routeOf(lane, command);
    activity.latencyNs = topology.latencyNs(command.from, command.to, way);
    activity.resources.reserve(way.size());
    for (Hop hop : way) {
      uint32_t resource = 2 * hop.link + (hop.forward || topology.links[hop.link].halfDuplex ? 0 : 1);
      activity.resources.push_back(resource);
      ++uses[resource].copies;
      uses[resource].bytes += command.bytes;
    }
    for (auto [node, writes] : {std::pair(command.from, 0u), {command.to, 1u}}) {
      if (topology.nodes[node].kind != NodeKind::storage) continue;
      activity.resources.push_back(uint32_t(2 * topology.links.size() + 2 * node + writes));
    }
  }

  std::vector<Hop> wayOf(const SimulatedCommand &command) const {
    if (command.via < 0) return topology.route(command.from, command.to, command.bytes);
    std::vector<Hop> way = topology.route(command.from, uint32_t(command.via), command.bytes),
                     back = topology.route(uint32_t(command.via), command.to, command.bytes);
    if (way.empty() || back.empty()) return {};
    way.insert(way.end(), back.begin(), back.end());
    return way;
  }

  const std::vector<Hop> &routeOf(size_t lane, const SimulatedCommand &command) {
    auto [found, isNew] = routes.try_emplace({command.from, command.to, command.via, command.bytes});
    if (isNew) found->second = wayOf(command);
    if (found->second.empty())
      badInput("topology '" + topology.name + "': no way leads from " + topology.nodes[command.from].name + " to " +
               topology.nodes[command.to].name + ", which " +
               (program.lanes[lane].ofArrays ? "the caller's arrays are copied"
                                             : "lane " + std::to_string(lane) + " copies") +
               " over; expected links between them, through switches and nodes that forward");
    return found->second;
  }

  // In the order in which copies came, those for which their storages have a channel.
  bool openChannels() {
    std::vector<size_t> queued;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].stage == Stage::queued) queued.push_back(lane);
    std::sort(queued.begin(), queued.end(), [&](size_t a, size_t b) { return lanes[a].order < lanes[b].order; });
    bool moved = false;
    for (size_t lane : queued) {
      const SimulatedCommand &command = commandOf(lane);
      auto isFull = [&](uint32_t node) {
        return topology.nodes[node].kind == NodeKind::storage && inUse[node] >= topology.nodes[node].channels;
      };
      if (isFull(command.from) || isFull(command.to)) continue;
      ++inUse[command.from];
      ++inUse[command.to];
      lanes[lane].stage = Stage::latency;
      lanes[lane].end = now + lanes[lane].latencyNs;
      moved = true;
    }
    return moved;
  }

  void finish(size_t lane) {
    Activity &activity = lanes[lane];
    const SimulatedCommand &command = commandOf(lane);
    if (activity.stage == Stage::told) return endCommand(lane);
    sharesChanged = true;
    if (activity.stage == Stage::work) {
      busy[program.lanes[lane].device].push_back({result.commands[lane][at[lane]].begin, now});
      return endCommand(lane);
    }
    if (activity.stage == Stage::latency) {
      activity.stage = Stage::flow;
      activity.since = activity.flowBegin = now;
      activity.end = kNever;
      --inUse[command.from];
      --inUse[command.to];
      if (activity.left > 0) return;
    }
    for (uint32_t resource : activity.resources)
      if (resource < uses.size()) uses[resource].busy.push_back({activity.flowBegin, now});
    inFlight.push_back({result.commands[lane][at[lane]].begin, now});
    endCommand(lane);
  }

  // What has passed since the shares were others; what is left of bursts says what a link takes.
  void settleBuckets() {
    for (Bucket &bucket : buckets) {
      bucket.settle(now);
      capacities[bucket.resource] = bucket.left > 0 ? rt::kMostPerSecond : bucket.rate;
    }
  }
  void drawOn(std::span<const size_t> flowing) {
    for (Bucket &bucket : buckets) {
      double flow = 0;
      for (size_t lane : flowing)
        if (const auto &own = lanes[lane].resources; std::find(own.begin(), own.end(), bucket.resource) != own.end())
          flow += lanes[lane].rate;
      bucket.draw(flow, now);
    }
  }

  void share() {
    sharesChanged = false;
    settleBuckets();
    std::vector<int> wanted(topology.nodes.size(), 0);
    auto threadsOf = [&](size_t lane) {
      return std::min(commandOf(lane).threads, topology.nodes[program.lanes[lane].device].threads);
    };
    std::vector<size_t> flowing;
    std::vector<std::span<const uint32_t>> flows;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane].stage == Stage::work) wanted[program.lanes[lane].device] += threadsOf(lane);
      if (lanes[lane].stage != Stage::flow) continue;
      flowing.push_back(lane);
      flows.push_back(lanes[lane].resources);
    }
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane].stage != Stage::work) continue;
      uint32_t device = program.lanes[lane].device;
      lanes[lane].setRate(now, std::min(1.0, double(topology.nodes[device].threads) / wanted[device]));
    }
    std::vector<double> rates = fairShares(capacities, flows);
    for (size_t i = 0; i < flowing.size(); ++i) lanes[flowing[i]].setRate(now, rates[i]);
    drawOn(flowing);
  }

  [[noreturn]] void refuseStuck() const {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].stage == Stage::blocked)
        badInput("the program is stuck: lane " + std::to_string(lane) + " waits for event " +
                 std::to_string(commandOf(lane).event) + ", which no lane records before it");
    internalError("the simulation ended before its program");
  }

  Simulation report() {
    result.ns = now;
    std::vector<Span> works;
    for (std::vector<Span> &spans : busy) {
      result.deviceBusy.push_back(apart(std::move(spans)));
      works.insert(works.end(), result.deviceBusy.back().begin(), result.deviceBusy.back().end());
    }
    for (uint32_t resource = 0; resource < uses.size(); ++resource) {
      LinkUse &use = uses[resource];
      if (use.copies == 0) continue;
      use.link = resource / 2;
      use.forward = resource % 2 == 0;
      use.busy = apart(std::move(use.busy));
      result.links.push_back(std::move(use));
    }
    works = apart(std::move(works));
    std::vector<Span> flights = apart(std::move(inFlight)), either = works;
    either.insert(either.end(), flights.begin(), flights.end());
    result.copyNs = covered(flights);
    result.exposedCopyNs = covered(apart(std::move(either))) - covered(works);
    return std::move(result);
  }

  const Topology &topology;
  const SimulatedProgram &program;
  Simulation result;
  double now = 0;
  size_t commandsLeft = 0;
  uint64_t copies = 0;
  bool sharesChanged = false;
  std::vector<Activity> lanes;
  std::vector<size_t> at;         // commands that are over, of each lane
  std::vector<double> recordedAt; // by event
  std::vector<int> inUse;         // channels of each node: by copies that wait for their first byte
  std::vector<std::vector<Span>> busy;
  std::vector<LinkUse> uses;
  std::vector<double> capacities;
  std::vector<Bucket> buckets;
  std::vector<Span> inFlight;
  std::map<std::tuple<uint32_t, uint32_t, int32_t, double>, std::vector<Hop>> routes;
};

} // namespace

std::vector<Span> apart(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
  std::vector<Span> result;
  for (const Span &span : spans) {
    if (!(span.end > span.begin)) continue;
    if (!result.empty() && span.begin <= result.back().end)
      result.back().end = std::max(result.back().end, span.end);
    else
      result.push_back(span);
  }
  return result;
}

double covered(const std::vector<Span> &apart) {
  double sum = 0;
  for (const Span &span : apart) sum += span.length();
  return sum;
}

Simulation simulate(const Topology &topology, const SimulatedProgram &program) {
  return Player(topology, program).play();
}

} // namespace sprig::machine
