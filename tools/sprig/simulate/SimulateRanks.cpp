#include "tools/sprig/simulate/ProgramToPlay.h"
#include "lib/Data/File.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include "tools/sprig/simulate/RankReport.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>

namespace sprig::cli {
namespace {

// What one rank's calls have, or its devices.
void refuseUnusedOfRanks(const SimulateOptions &options) {
  std::pair<const char *, bool> given[] = {{"--devices", !options.settings.devices.empty()},
                                           {"--place", !options.settings.places.empty()},
                                           {"--calls", options.calls > 0},
                                           {"--front-end", !options.frontEnd.empty()},
                                           {"--return", !options.returns.empty()},
                                           {"--read", !options.read.empty()}};
  for (auto &[flag, isGiven] : given)
    if (isGiven)
      badUse(std::string(flag) + ": has no meaning with --mesh, whose ranks are on the devices "
                                 "of the topology in their order, one step each");
  std::string flag = options.mesh.empty() ? "--ranks" : "--mesh";
  if (options.model.empty()) badUse(flag + ": expected a MODEL to simulate, too");
  if (options.topology.empty())
    badUse(flag + ": expected --topology, too, the machine that the ranks are on: " + machine::topologyPresetNames() +
           ", or a file");
  if (!options.mesh.empty() && !options.ranks.empty())
    badUse("--mesh and --ranks: both say how many ranks there are, expected one of them");
}

RankSettings rankSettings(const SimulateOptions &options, bool isPackage) {
  RankSettings settings;
  // Axes of a package's mesh, not numbers of ranks as a curve has them.
  const auto axes = std::count(options.mesh.begin(), options.mesh.end(), '=');
  const bool isMesh = axes == std::count(options.mesh.begin(), options.mesh.end(), ',') + 1;
  if (isPackage && isMesh && options.mesh.find('.') == std::string::npos) settings.mesh = options.mesh;
  if (!settings.mesh.empty() && !isNumberOfRanks(settings.mesh)) {
    MeshFlags flags;
    flags.mesh = settings.mesh;
    flags.runsModel = true;
    settings.ranks = {flags.ranks({})};
  } else {
    settings.ranks =
        options.mesh.empty() ? parseRankCounts("--ranks", options.ranks) : parseRankCounts("--mesh", options.mesh);
  }
  settings.scaling =
      options.scaling == "weak" || (options.scaling.empty() && isPackage) ? Scaling::weak : Scaling::strong;
  if (!options.algorithm.empty()) {
    rt::collective::Algorithm algorithm;
    if (!rt::collective::findAlgorithm(options.algorithm, algorithm))
      badUse("--algo " + options.algorithm + ": there is none of this name, expected one of " +
             rt::collective::algorithmsOf(rt::collective::Kind::allReduce));
    settings.algorithm = algorithm;
  }
  MeshFlags flags;
  flags.mesh = options.mesh.empty() ? options.ranks : options.mesh;
  flags.bucket = options.bucket;
  flags.factors = options.factors;
  flags.shares = options.shares;
  if (!options.shares.empty()) {
    if (isPackage) flags.refuseSharesOf(options.model);
    if (settings.ranks.size() > 1)
      badUse("--shares " + options.shares + ": expected one number of ranks, found " +
             std::to_string(settings.ranks.size()));
    settings.isBySpeed = flags.measuresShares() && settings.ranks[0] > 1;
    settings.weights = flags.weights(settings.ranks[0]);
  }
  flags.zero = options.zero;
  flags.allowGather = options.allowGather;
  flags.checkNames();
  if (isPackage) {
    flags.refuseChoicesOf(options.model);
    flags.refuseZeroOf(options.model);
  }
  static_cast<StepChoices &>(settings) = flags.choices();
  if (isPackage) options.stepsPerCall.refuseOf(options.model);
  settings.stepsPerCall = options.stepsPerCall.count(options.settings);
  if (settings.stepsPerCall > 1 && !options.entry.empty())
    badUse("--entry " + options.entry + ": --steps-per-call chooses the entry, train_steps");
  if (!options.network.empty()) settings.network = readTopology(options.network, "--network");
  return settings;
}

} // namespace

bool isOfRanks(const SimulateOptions &options) {
  bool isGiven = !options.mesh.empty() || !options.ranks.empty();
  for (auto &[flag, text] : {std::pair("--scaling", &options.scaling),
                             {"--algo", &options.algorithm},
                             {"--network", &options.network},
                             {"--bucket", &options.bucket},
                             {"--factors", &options.factors},
                             {"--shares", &options.shares}})
    if (!isGiven && !text->empty()) badUse(std::string(flag) + ": goes with --mesh or --ranks");
  if (!isGiven && options.zero) badUse("--zero: goes with --mesh or --ranks");
  if (!isGiven && options.allowGather) badUse("--allow-gather: goes with --mesh or --ranks");
  if (!isGiven && options.stepsPerCall.given()) badUse("--steps-per-call: goes with --mesh or --ranks");
  return isGiven;
}

int simulateRanks(const SimulateOptions &options) {
  refuseUnusedOfRanks(options);
  Model model = openModel(options.model);
  machine::Topology topology = readTopology(options.topology);
  if (int threads = options.settings.laneCount())
    for (machine::Node &node : topology.nodes)
      if (node.name.starts_with("cpu:")) node.threads = threads;
  for (const std::string &link : options.links) machine::setLink(topology, "--link", link);
  machine::check(topology, options.topology);
  RankSettings settings = rankSettings(options, model.kind == ModelKind::package);
  bool isCurve = settings.ranks.size() > 1;
  if (isCurve && !options.trace.empty())
    badUse("--trace: expected one number of ranks, found " + std::to_string(settings.ranks.size()));
  if (!options.writeTopology.empty() && isCurve)
    badUse("--write-topology: expected one number of ranks, found " + std::to_string(settings.ranks.size()));
  RankedSteps steps(model, options.train, options.allow, options.settings, options.entry, settings);
  std::vector<PlayedRanks> points;
  for (int ranks : settings.ranks) points.push_back(steps.play(topology, ranks));

  const PlayedRanks &last = points.back();
  if (!options.writeTopology.empty()) data::writeFile(options.writeTopology, topologyToText(last.cluster.topology));
  if (!options.trace.empty()) {
    std::ostringstream trace;
    writeRankTrace(trace, last);
    data::writeFile(options.trace, trace.str());
  }
  if (!options.svg.empty())
    data::writeFile(options.svg,
                    isCurve ? rankCurve(points, settings.scaling, options.model) : rankTimeline(last, options.model));
  if (!options.common.json()) {
    if (isCurve)
      printRankCurve(points, settings.scaling);
    else
      printRanks(last, settings.scaling);
    return kDone;
  }
  Json list = Json::array(), words = Json::array();
  for (const PlayedRanks &point : points) list.push_back(toJson(point));
  for (const std::string &line : curveInWords(points)) words.push_back(line);
  std::cout << toText({{"kind", "sprig simulate"},
                       {"model", options.model},
                       {"topology", Json::parse(topologyToText(topology))},
                       {"scaling", nameOf(settings.scaling)},
                       {"points", list},
                       {"curve", words}})
            << '\n';
  return kDone;
}

} // namespace sprig::cli
