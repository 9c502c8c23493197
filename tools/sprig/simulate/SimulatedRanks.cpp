#include "tools/sprig/simulate/SimulatedRanks.h"
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/TopologyPresets.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "runtime/api/Handles.h"
#include "runtime/collective/Shares.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/train/RankLink.h"
#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

namespace sprig::cli {
namespace {

using machine::Cluster;
using machine::Played;
using machine::RankLanes;
using machine::RankStep;
using machine::Span;
using machine::Topology;

constexpr int kMostRanks = 1024;
// More ranks than these are played by one machine of them where all are alike, and even where shares differ.
constexpr int kMostInFull = 16, kMostUnevenInFull = 64;

int rankCount(const std::string &flag, const std::string &text, std::string_view number) {
  int count = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || end != number.data() + number.size() || count < 1 || count > kMostRanks)
    badUse(flag + " " + text + ": '" + std::string(number) + "' is no number of ranks from 1 to " +
           std::to_string(kMostRanks));
  return count;
}

/// On a machine of its own, without anybody to meet.
double aloneNs(const RankStep &step, const Topology &topology, uint32_t node) {
  Cluster one{topology, {node}, 1};
  const RankStep *steps[] = {&step};
  RankLanes lanes(one, steps, Played::alone);
  return machine::simulate(lanes.topology(), lanes.program()).ns;
}

Topology withoutLatency(Topology topology) {
  for (machine::TopologyLink &link : topology.links) link.latencyNs = link.meters = 0;
  return topology;
}
Cluster withoutLatency(const Cluster &cluster) {
  Cluster made = cluster;
  made.topology = withoutLatency(cluster.topology);
  if (made.one) made.one->topology = withoutLatency(cluster.one->topology);
  return made;
}

machine::RankSpans spansOf(const StepProgram &step, const std::vector<std::vector<Span>> &played, int rank, int ranks) {
  machine::RankSpans spans;
  std::vector<std::pair<Span, int>> meetings; // and the first of the ranks there
  for (size_t lane = 0; lane < step.step.lanes.size(); ++lane)
    for (size_t i = 0; i < step.step.lanes[lane].size(); ++i) {
      const RankStep::Command &command = step.step.lanes[lane][i];
      if (!command.meetings.empty()) {
        meetings.emplace_back(played[lane][i], command.meetings.front().groupOf(rank, ranks).front());
      } else if (command.command.kind == machine::SimulatedCommand::Kind::work)
        spans.computing.push_back(played[lane][i]);
    }
  // In one order, on whichever lanes.
  std::stable_sort(meetings.begin(), meetings.end(), [](auto &a, auto &b) { return a.first.begin < b.first.begin; });
  for (auto &[span, first] : meetings) {
    spans.meetings.push_back(span);
    spans.firsts.push_back(first);
  }
  return spans;
}

} // namespace

std::vector<int> parseRankCounts(const std::string &flag, const std::string &text) {
  std::set<int> counts;
  std::string_view list = text;
  if (flag == "--mesh") {
    if (!list.starts_with("data=")) badUse(flag + " " + text + ": expected data=N, or several as data=1,2,4");
    list.remove_prefix(5);
  }
  while (true) {
    std::string_view item = list.substr(0, list.find(','));
    if (size_t dots = item.find(".."); dots != std::string_view::npos) {
      int first = rankCount(flag, text, item.substr(0, dots)), last = rankCount(flag, text, item.substr(dots + 2));
      if (first > last)
        badUse(flag + " " + text + ": goes from " + std::to_string(first) + " down to " + std::to_string(last));
      for (int count = first; count < last; count *= 2) counts.insert(count);
      counts.insert(last);
    } else {
      counts.insert(rankCount(flag, text, item));
    }
    if (item.size() == list.size()) break;
    list.remove_prefix(item.size() + 1);
  }
  return {counts.begin(), counts.end()};
}

struct RankedSteps::Source {
  struct Compiled {
    std::optional<Runner> runner;
    uint32_t entry = 0;
    int64_t samplesOfRanks = 0; // of all ranks that it was made for
    int ranks = 1;
    int64_t stepsPerCall = 1;
    // By what a node computes with and the number of ranks.
    std::map<std::pair<std::string, int>, StepProgram> programs;
  };

  const Model model;
  std::optional<training::TrainConfig> config; // none: a package
  std::vector<std::string> allow;
  Settings compileSettings;
  std::string entry;
  RankSettings ranks;
  // By ranks, a rank's share of a pass, and what all-reduces take.
  std::map<std::tuple<int, int64_t, double, double>, Compiled> compiled;
  // By ranks and what all-reduces take: the buckets of the first rank, whose step is made first, and so of all.
  std::map<std::tuple<int, double, double>, int64_t> buckets, turns;

  // What differs from rank to rank is the size of the share.
  Compiled &compiledFor(int count, int rank, const RankLink &link = {}) {
    if (!config) return package(rank);
    bool isWeak = ranks.scaling == Scaling::weak;
    int64_t share = shareOf(count, rank);
    Compiled &found = compiled[{count, share, link.latency, link.bytesPerSecond}];
    if (found.runner) return found;
    bool isEvenWeak = isWeak && (count == 1 || ranks.weights.empty());
    StepOfRank of;
    static_cast<StepChoices &>(of) = ranks;
    of.rank = isEvenWeak ? 0 : rank;
    of.ranks = count;
    of.hasWholeBatch = isWeak;
    of.warns = compiled.size() == 1;
    of.stepsPerCall = ranks.stepsPerCall;
    of.onOneMachine = ranks.onOneMachine;
    if (count > 1) {
      of.weights = ranks.weights;
      of.link = link;
      of.link->isApart = ranks.isBeside;
      of.agreeOnBucket = [&](int64_t bytes) {
        return buckets.try_emplace({count, link.latency, link.bytesPerSecond}, bytes).first->second;
      };
      of.agreeOnTurn = [&](int64_t turn) {
        return turns.try_emplace({count, link.latency, link.bytesPerSecond}, turn).first->second;
      };
    }
    found.runner = compileSteps(model, *config, allow, compileSettings, RunnerOptions{1, "null"}, of);
    choose(found);
    return found;
  }

  // Samples of a rank in a forward pass.
  int64_t shareOf(int count, int rank) const {
    int64_t all = config->batch * (ranks.scaling == Scaling::weak ? count : 1);
    static const std::vector<int64_t> even;
    return rt::collective::shareOf(all, uint32_t(count), count > 1 ? ranks.weights : even, uint32_t(rank)).size();
  }

  // Of programs that are one rank's each, the rank's.
  Compiled &package(int rank) {
    Compiled &first = loaded();
    const std::vector<rt::core::Entry> &entries = first.runner->package()->package->program().entries;
    if (entries[first.entry].rank < 0) return first;
    Compiled &found = compiled[{-1, rank, 0, 0}];
    if (found.runner) return found;
    if (std::optional<uint32_t> own = entryOfRank(*first.runner, first.entry, rank)) {
      found.runner = first.runner;
      found.entry = *own;
      found.ranks = first.ranks;
      found.samplesOfRanks = first.samplesOfRanks;
      found.stepsPerCall = first.stepsPerCall;
      return found;
    }
    badUse(model.path + ": has no program of rank " + std::to_string(rank) + " of entry '" + entries[first.entry].name +
           "', which is of " + std::to_string(first.ranks) + " ranks");
  }

  Compiled &loaded() {
    Compiled &found = compiled[{0, 0, 0, 0}];
    if (found.runner) return found;
    Settings none = compileSettings;
    refuseForPackage(model, none);
    found.runner = loadPackage(model, RunnerOptions{1, "null"});
    choose(found);
    if (found.ranks < 2)
      badUse(model.path + ": its step is of one rank, which meets no others; 'sprig compile "
                          "MODEL --train CONFIG --mesh data=2' makes one of ranks");
    return found;
  }

  void choose(Compiled &found) const {
    std::string name = ranks.stepsPerCall > 1 ? std::string(training::kStepsEntry)
                       : entry.empty()        ? std::string(training::kStepEntry)
                                              : entry;
    // A model that is split has the entry that it was.
    std::string mesh = meshText(*found.runner, 0);
    if (!mesh.empty() && entry.empty()) name = found.runner->package()->package->program().entries.front().name;
    if (!ranks.mesh.empty() && ranks.mesh != mesh && !(mesh.empty() && isNumberOfRanks(ranks.mesh)))
      badUse("--mesh " + ranks.mesh + ": " + model.path + " is of " +
             (mesh.empty() ? "ranks without a mesh of their own" : "the mesh " + mesh));
    ProfileTarget target = chooseTargets(*found.runner, name, compileSettings, 1).front();
    found.entry = uint32_t(*target.entry);
    sprig_rt_ranks_info info = found.runner->ranks(found.entry);
    found.ranks = std::max(1, int(info.ranks));
    found.stepsPerCall = stepsOfEntry(*found.runner, found.entry);
    found.samplesOfRanks = int64_t(info.samples) / found.stepsPerCall;
  }

  // By what the step of one rank takes on each node.
  std::vector<int64_t> weightsBySpeed(const Cluster &cluster, Compiled &one);

  const StepProgram &stepFor(Compiled &found, const Topology &topology, uint32_t node, int count) const {
    const machine::Node &place = topology.nodes[node];
    std::string computes = place.rates + " " + std::to_string(place.flops) + " " +
                           std::to_string(place.bandwidth.bytesPerSecond()) + " " + std::to_string(place.launchNs) +
                           " " + std::to_string(place.threads);
    auto [step, isNew] = found.programs.try_emplace({computes, count});
    if (isNew) step->second = stepOf(*found.runner, found.entry, topology, node, count, ranks.algorithm);
    return step->second;
  }
};

std::vector<int64_t> RankedSteps::Source::weightsBySpeed(const Cluster &cluster, Compiled &one) {
  std::vector<double> speeds;
  for (uint32_t node : cluster.nodes) {
    const StepProgram &step = stepFor(one, cluster.topology, node, 1);
    speeds.push_back(1 / std::max(1.0, aloneNs(step.step, cluster.topology, node)));
  }
  return weightsOf(speeds);
}

bool isNumberOfRanks(std::string_view mesh) {
  return mesh.starts_with("data=") && mesh.find(',') == std::string_view::npos;
}

RankedSteps::RankedSteps(const Model &model, const std::string &config, const std::vector<std::string> &allow,
                         const Settings &settings, const std::string &entry, const RankSettings &ranks)
    : source(std::make_unique<Source>(Source{model, std::nullopt, allow, settings, entry, ranks, {}, {}, {}})) {
  if (config.empty() && model.kind != ModelKind::package)
    badUse("--mesh: ranks take training steps together: --train CONFIG");
  if (!config.empty() && model.kind == ModelKind::package)
    badUse("--train: " + model.path + " is a package, which trains by itself or not at all");
  if (!config.empty()) source->config = training::readTrainConfig(config);
  if (config.empty() && ranks.scaling == Scaling::strong)
    badUse(model.path + ": a package has one share of a batch for each rank, however many there "
                        "are: expected --scaling weak");
}

RankedSteps::RankedSteps(const Model &model, const training::TrainConfig &config, const Settings &settings,
                         const RankSettings &ranks, const std::vector<std::string> &allow)
    : source(std::make_unique<Source>(Source{model, config, allow, settings, "", ranks, {}, {}, {}})) {}

RankedSteps::~RankedSteps() = default;

const RankSettings &RankedSteps::settings() const { return source->ranks; }

namespace {

/// What all-reduces of so many ranks take, for who chooses buckets by it: a processor that is slower than the ranks'
/// nodes has to take links to be slower by as much.
RankLink linkOf(const Cluster &cluster, double timesSlower) {
  machine::RankLink between = machine::betweenNodes(cluster.topology, cluster.nodes);
  return machine::expectedLinkOf({{between.message.latency * timesSlower, between.message.bytesPerSecond / timesSlower},
                                  between.addBytesPerSecond / timesSlower},
                                 cluster.ranks(), "of the topology");
}

/// What was played is of several steps, what is said of one.
void divideBySteps(PlayedRanks &point) {
  auto steps = double(point.stepsPerCall);
  for (double *of :
       {&point.ns, &point.oneNs, &point.lost.latency, &point.lost.bandwidth, &point.lost.small, &point.lost.uneven,
        &point.messages, &point.bytesBesides, &point.times.ns, &point.times.stragglerNs})
    *of /= steps;
  for (machine::RankTimes &rank : point.times.ranks)
    for (double *of : {&rank.computing, &rank.communicating, &rank.exposed, &rank.waiting, &rank.idle}) *of /= steps;
  point.meetings /= size_t(point.stepsPerCall);
}

/// Where a step of so many ns loses time against its ideal: what each stage takes beyond the stages before it, so that
/// the parts add up to all that is lost. What a stage gains is set off against the next one's loss.
LostTime lostTime(double ideal, double meanShare, double largestShare, double withoutLatency, double ns) {
  double reached = ideal;
  auto until = [&](double stage) {
    double before = reached;
    reached = std::max(reached, std::min(stage, ns));
    return reached - before;
  };
  LostTime lost;
  lost.small = until(meanShare);
  lost.uneven = until(largestShare);
  lost.bandwidth = until(withoutLatency);
  lost.latency = until(ns);
  return lost;
}

// Where one is played for all, the largest share is. Returns what the step takes where links have no latency.
double playRanks(PlayedRanks &point, const std::vector<const StepProgram *> &all) {
  std::vector<const RankStep *> steps;
  for (const StepProgram *step : all) steps.push_back(&step->step);
  if (point.isOneForAll()) steps.resize(1);
  RankLanes lanes(point.cluster, steps, point.how);
  point.played = machine::simulate(lanes.topology(), lanes.program());
  point.ns = point.played.ns;
  point.bytesBesides = lanes.meanBytesBesides();
  std::vector<machine::RankSpans> spans;
  for (int rank = 0; rank < lanes.ranks(); ++rank) {
    const StepProgram *step = all[point.isOneForAll() ? 0 : size_t(rank)];
    point.steps.push_back(step);
    point.spans.push_back(lanes.commandsOf(rank, point.played));
    spans.push_back(spansOf(*step, point.spans.back(), rank, point.ranks));
    point.timeShares += machine::timeShares({0, point.ns}, spans.back().computing, {}, {}, spans.back().meetings);
  }
  point.times = machine::ranksTime({0, point.ns}, spans);
  if (point.ranks == 1) return point.ns;
  Cluster quick = withoutLatency(point.cluster);
  RankLanes quickLanes(quick, steps, point.how);
  return machine::simulate(quickLanes.topology(), quickLanes.program()).ns;
}

} // namespace

PlayedRanks RankedSteps::play(const Topology &topology, int ranks) {
  PlayedRanks point;
  point.ranks = ranks;
  point.cluster = machine::clusterOf(topology, ranks, source->ranks.network);
  Cluster single = machine::clusterOf(topology, 1);
  // All programs are for the threads that nodes have: those of this machine say nothing about them.
  if (Settings &compiled = source->compileSettings; !compiled.laneCount())
    compiled.threads = topology.nodes[single.nodes[0]].threads;
  Source::Compiled &first = source->compiledFor(1, 0);
  // Of a mesh what one of its ranks does, and nobody is waited for.
  int ranksOfOne = meshText(*first.runner, first.entry).empty() ? 1 : first.ranks;
  point.oneNs = aloneNs(source->stepFor(first, single.topology, single.nodes[0], ranksOfOne).step, single.topology,
                        single.nodes[0]);
  RankLink link;
  if (source->ranks.isBySpeed) source->ranks.weights = source->weightsBySpeed(point.cluster, first);
  if (source->config && ranks > 1) {
    const std::string here[] = {"cpu:0"};
    Topology own = machine::thisMachine(here, 1);
    double hereNs = aloneNs(source->stepFor(first, own, 0, 1).step, own, 0);
    link = linkOf(point.cluster, point.oneNs > 0 ? hereNs / point.oneNs : 1);
  }
  const std::vector<uint32_t> &nodes = point.cluster.nodes;
  std::vector<const StepProgram *> steps;
  std::map<const StepProgram *, double> alone;
  double mean = 0, longest = 0;
  int64_t samples = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    Source::Compiled &compiled = source->compiledFor(ranks, rank, link);
    const StepProgram &step = source->stepFor(compiled, point.cluster.topology, nodes[size_t(rank)], ranks);
    steps.push_back(&step);
    auto [found, isNew] = alone.try_emplace(&step, 0);
    if (isNew) found->second = aloneNs(step.step, point.cluster.topology, nodes[size_t(rank)]);
    mean += found->second / ranks;
    longest = std::max(longest, found->second);
    samples = compiled.samplesOfRanks / compiled.ranks * ranks;
  }
  bool isAlike = alone.size() == 1;
  // The largest share stands for all where it is the first.
  bool isOne =
      point.cluster.one && source->ranks.weights.empty() && ranks > (isAlike ? kMostInFull : kMostUnevenInFull);
  point.how = isOne ? Played::one : Played::all;
  point.isLargestOfAll = isOne && !isAlike;
  if (const auto &config = source->config) {
    int64_t batch = config->batch * config->accumulate;
    bool isWeak = source->ranks.scaling == Scaling::weak;
    samples = isWeak ? batch * ranks : batch;
    int64_t each = source->shareOf(ranks, 0) * config->accumulate;
    point.shares = std::to_string(each) + " samples each";
    if (const auto &weights = source->ranks.weights; !weights.empty())
      point.shares = sharesText(config->batch * (isWeak ? ranks : 1), weights, ranks) + " (--shares " +
                     textOf(weights, ranks) + ")";
    else if (!isWeak && config->batch % ranks)
      point.shares = std::to_string(each) + " or " + std::to_string(each - config->accumulate) + " samples each";
  } else if (samples) {
    point.shares = std::to_string(samples / ranks) + " samples each";
  }
  point.samples = samples;
  for (const auto &lane : steps.front()->step.lanes)
    for (const RankStep::Command &command : lane)
      for (const machine::Meeting &meeting : command.meetings) {
        ++point.meetings;
        auto met = int(meeting.groupOf(0, ranks).size());
        point.messages += machine::stepsOf(meeting.kind, meeting.algorithm, met, double(meeting.bytes)).steps;
      }
  double withoutLatency = playRanks(point, steps);

  bool isStrong = source->config && source->ranks.scaling == Scaling::strong;
  double ideal = isStrong ? point.oneNs / ranks : point.oneNs;
  point.efficiency = ideal / point.ns;
  point.speedUp = point.efficiency * ranks;
  point.lost = lostTime(ideal, mean, longest, withoutLatency, point.ns);
  point.stepsPerCall = first.stepsPerCall;
  divideBySteps(point);
  return point;
}

std::string reasonFor(const PlayedRanks &point) {
  const LostTime &lost = point.lost;
  std::string share = point.shares.empty() ? "" : " (" + point.shares + ")";
  const double parts[] = {lost.latency, lost.bandwidth, lost.small, lost.uneven};
  const std::string names[] = {
      "the latency of " + formatDouble(point.messages, 9) + " messages that follow one another in a step's collectives",
      "bytes that wait for the links, and adding them up", "computation that does not shrink with the share" + share,
      "uneven shares or devices, of which all wait for the slowest"};
  std::vector<int> percents = machine::wholePercents(parts);
  std::vector<size_t> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return parts[a] > parts[b]; });
  std::string text;
  for (size_t i : order)
    if (percents[i] > 0) text += (text.empty() ? "" : ", ") + std::to_string(percents[i]) + " % is " + names[i];
  return "of the lost time " + text;
}

std::vector<std::string> curveInWords(const std::vector<PlayedRanks> &points) {
  auto below = [&](double bound) {
    return std::find_if(points.begin(), points.end(), [&](auto &point) { return point.efficiency < bound; });
  };
  auto at = [&](const PlayedRanks &point) {
    return " at " + std::to_string(point.ranks) + " ranks: " + reasonFor(point);
  };
  auto few = below(0.8), half = below(0.5);
  std::string last = " up to " + std::to_string(points.back().ranks) + " ranks";
  if (few == points.end()) return {"efficiency stays above 80 %" + last};
  if (few == half) return {"efficiency falls below 80 % and 50 %" + at(*few)};
  std::vector<std::string> lines = {"efficiency falls below 80 %" + at(*few)};
  lines.push_back(half == points.end() ? "efficiency stays above 50 %" + last
                                       : "efficiency falls below 50 %" + at(*half));
  return lines;
}

} // namespace sprig::cli
