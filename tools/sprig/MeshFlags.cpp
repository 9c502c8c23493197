#include "tools/sprig/MeshFlags.h"
#include "lib/Shard/Strategy/StrategyNames.h"
#include "tools/sprig/RankWeights.h"
#include "sprig/error.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/rt/sprig_rt.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace sprig::cli {

using rt::comm::kMostThreadRanks;

namespace {

int ranksOfData(const std::string &mesh, int most) {
  auto refuse = [&](const std::string &why) -> Error { return Error(ErrorKind::usage, "--mesh " + mesh + ": " + why); };
  size_t equals = mesh.find('=');
  if (equals == std::string::npos) throw refuse("expected data=N");
  if (std::string axis = mesh.substr(0, equals); axis != "data")
    throw refuse("there is no strategy for an axis '" + axis + "', expected data=N");
  int ranks = 0;
  const char *first = mesh.data() + equals + 1, *last = mesh.data() + mesh.size();
  auto [end, error] = std::from_chars(first, last, ranks);
  if (error != std::errc() || end != last || ranks < 1 || ranks > most)
    throw refuse("'" + std::string(first, last) + "' is no number of ranks from 1 to " + std::to_string(most));
  return ranks;
}

// What others call it.
bool isDataElsewhere(std::string_view strategy) {
  return strategy == "ddp" || strategy == "dp" || strategy == "DistributedDataParallel" || strategy == "horovod" ||
         strategy == "mirrored";
}

} // namespace

std::vector<rt::collective::MeshAxis> parseMesh(const std::string &text) {
  std::vector<rt::collective::MeshAxis> axes;
  if (std::string why = rt::collective::parseMesh(text, axes); !why.empty()) badUse("--mesh " + text + ": " + why);
  return axes;
}

// Training by samples has one axis.
int MeshFlags::ranksOfMesh(int most) const {
  if (!runsModel) return ranksOfData(mesh, most);
  int64_t ranks = 1;
  for (const rt::collective::MeshAxis &axis : parseMesh(mesh)) {
    if (axis.ranks > most / ranks) badUse("--mesh " + mesh + ": more than " + std::to_string(most) + " ranks");
    ranks *= axis.ranks;
  }
  return int(ranks);
}

void MeshFlags::checkNames() const {
  std::string names;
  for (const shard::StrategyName &each : shard::kStrategyNames)
    names += (names.empty() ? "" : " or ") + std::string(each.name);
  if (!strategy.empty() && !shard::findStrategyName(strategy))
    badUse("--strategy " + strategy + ": there is none of this name, expected " + names +
           (isDataElsewhere(strategy) ? "; data is what " + strategy + " is here" : ""));
  std::string flag = "--zero " + std::to_string(zero);
  if (zero < 0 || zero > 1)
    badUse(flag + ": expected 0 or 1: ranks share the optimizer's state, each has all gradients and parameters");
  if (zero && !isGiven()) badUse(flag + ": is for ranks that train together, which --strategy data or --mesh says");
}

std::string MeshFlags::strategyName() const {
  for (const shard::StrategyName &each : shard::kStrategyNames)
    if (zero && each.zero == zero) return each.name;
  return strategy.empty() ? shard::kStrategyNames[0].name : strategy;
}

bool MeshFlags::sharesState() const { return shard::findStrategyName(strategyName())->zero > 0; }

std::vector<int64_t> MeshFlags::weights(int ranks) const {
  if (shares.empty()) return {};
  return measuresShares() ? std::vector<int64_t>() : parseWeights(shares, ranks);
}

int MeshFlags::ranks(const Settings &settings) const {
  for (auto &[flag, value] : {std::pair("--bucket ", &bucket), {"--factors ", &factors}})
    if (!isGiven() && !value->empty()) badUse(flag + *value + ": is of ranks that train together, --strategy data");
  checkNames();
  if (!isGiven() && !shares.empty())
    badUse("--shares " + shares + ": is of ranks that train together, --strategy data");
  if (!isGiven() && allowGather) badUse("--allow-gather: is of ranks that train together, --strategy data");
  if (!isGiven()) return 1;
  rt::core::GivenDevices given = settings.parsedDevices();
  int devices = given.threads ? 1 : int(given.list.size());
  int ranks = mesh.empty() ? std::max(1, devices) : ranksOfMesh(kMostThreadRanks);
  std::string names = "--devices " + settings.givenDevices();
  if (devices && ranks != devices)
    badUse("--mesh " + mesh + ": " + std::to_string(ranks) + " ranks, and " + names + " names " +
           std::to_string(devices) + (devices == 1 ? " device" : " devices"));
  if (ranks > kMostThreadRanks) badUse(names + ": more than " + std::to_string(kMostThreadRanks) + " ranks");
  if (ranks > 1) checkDevices(settings, ranks);
  return ranks;
}

RankPlace MeshFlags::place(const Settings &settings) const {
  bool isLaunched = std::getenv("SPRIG_LAUNCHED") != nullptr;
  if (!sprig_rt_is_rank_process() || (!isGiven() && !isLaunched)) {
    int count = ranks(settings);
    return {.ranks = count, .here = count};
  }
  rt::comm::ProcessRanksOptions process;
  if (rt::comm::Status status = rt::comm::readEnvironment(process); !status.isOk())
    badUse(std::string(status.message()));
  // One task of a cluster is no group.
  if (process.ranks == 1 && !isLaunched) {
    int count = ranks(settings);
    return {.ranks = count, .here = count};
  }
  std::string of = "rank " + std::to_string(process.rank) + " of " + std::to_string(process.ranks);
  if (!isGiven())
    badUse("this process was started as " + of +
           (runsModel ? ": say how the model is split over them, --mesh and --shard"
                      : ": say how they train together, --strategy data"));
  checkNames();
  if (!mesh.empty() && ranksOfMesh(rt::comm::kMostProcessRanks) != process.ranks)
    badUse("--mesh " + mesh + ": this process was started as " + of);
  rt::core::GivenDevices given = settings.parsedDevices();
  if (!given.threads && given.list.size() > 1)
    badUse("--devices " + settings.givenDevices() + ": this process was started as " + of + ", and is one device");
  checkDevices(settings, process.ranks);
  const char *here = isLaunched ? std::getenv("LOCAL_WORLD_SIZE") : nullptr;
  return {process.ranks, true, process.rank, here ? std::max(1, std::atoi(here)) : 1};
}

int64_t MeshFlags::bucketBytes() const {
  if (bucket.empty() || bucket == "auto") return 0;
  if (bucket == "none") return 1;
  if (bucket == "unlimited") return INT64_MAX;
  double megabytes = 0;
  const char *last = bucket.data() + bucket.size();
  auto [end, error] = std::from_chars(bucket.data(), last, megabytes);
  if (error != std::errc() || end != last || !(megabytes > 0 && megabytes <= 1e6))
    badUse("--bucket " + bucket + ": expected auto, none, unlimited, or a number of MB above 0, as 0.5");
  return std::max(int64_t(1), int64_t(megabytes * double(1 << 20)));
}

void MeshFlags::checkDevices(const Settings &settings, int ranks) const {
  rt::core::GivenDevices given = settings.parsedDevices();
  std::string names = "--devices " + settings.givenDevices(), who = runsModel ? "ranks" : "ranks that train together";
  for (const rt::core::GivenDevice &device : given.list)
    if (device.kind != "cpu")
      unsupported(names + ": " + who + " are shares of the processor, expected 'cpu*" + std::to_string(ranks) +
                  "', not " + device.name());
  for (const std::string &target : settings.targets)
    if (!target.starts_with("cpu"))
      unsupported("--target " + target + ": " + who + " are shares of the processor, expected cpu");
  if (runsModel && settings.explainPlacement)
    badUse("--explain-placement: has no meaning with --shard, where every rank has a part of each layer");
  if (runsModel && (!settings.links.empty() || !settings.topology.empty()))
    badUse(std::string(settings.topology.empty() ? "--link" : "--topology") +
           ": has no meaning with --shard, whose ranks meet as they do here");
  if (!settings.places.empty())
    badUse(runsModel ? "--place: has no meaning with --shard, where every rank has a part of each layer"
                     : "--place: has no meaning with --strategy data, where every rank has all layers");
}

StepChoices MeshFlags::choices() const {
  FactorPolicy policy = factors == "never"    ? FactorPolicy::never
                        : factors == "always" ? FactorPolicy::always
                                              : FactorPolicy::automatic;
  return {bucketBytes(), policy, strategyName(), allowGather};
}

void MeshFlags::refuseChoicesOf(const std::string &package) const {
  std::string is = ": " + package + " is a package, which has the ";
  if (!bucket.empty()) badUse("--bucket " + bucket + is + "buckets that it was compiled with");
  if (!factors.empty()) badUse("--factors " + factors + is + "collectives that it was compiled with");
  if (allowGather) badUse("--allow-gather" + is + "collectives that it was compiled with");
}

void MeshFlags::refuseZeroOf(const std::string &package) const {
  if (sharesState())
    badUse("--zero 1: " + package +
           " is a package, whose ranks share the optimizer's state or do not, as it was compiled");
}

void MeshFlags::refuseTraining() const {
  if (allowGather) badUse("--allow-gather: is of ranks that train together, not of a model that is split");
  std::pair<const char *, std::string> given[] = {{"--strategy", strategy},
                                                  {"--bucket", bucket},
                                                  {"--factors", factors},
                                                  {"--shares", shares},
                                                  {"--zero", zero ? std::to_string(zero) : ""}};
  for (auto &[flag, value] : given)
    if (!value.empty())
      badUse(std::string(flag) + " " + value + ": is of ranks that train together, not of a model that is split");
}

void MeshFlags::refuseSharesOf(const std::string &package) const {
  badUse("--shares " + shares + ": " + package + " is a package, whose ranks have even shares");
}

void addZero(CLI::App &command, int &zero) {
  command.add_option("--zero", zero,
                     "1: each rank holds and updates a piece of the optimizer's state, not all of it (ZeRO 1)");
}

void addAllowGather(CLI::App &command, bool &allowGather) {
  command.add_flag(
      "--allow-gather", allowGather,
      "of ranks: layers that look from one sample at another gather the samples of all ranks, at each step "
      "(default: such models are refused, with the bytes that it would take)");
}

void addMesh(CLI::App &command, MeshFlags &flags) {
  command.add_option(
      "--strategy", flags.strategy,
      "how several devices are used: `data` gives each the whole model and a share of each batch, `zero1` "
      "a piece of the optimizer's state beside that (default: layers are placed on them)");
  command.add_option(
      "--mesh", flags.mesh,
      "axes over the devices: data=2 is --strategy data on 2 ranks; with --shard any, as data=2,model=2");
  addText(command, "--bucket", "auto|MB", flags.bucket,
          "of ranks: gradients that go together, in the order in which the backward pass makes them: MB (of 2^20 "
          "bytes) at most, none (each by itself), unlimited, or auto (by cost; default). Bits do not depend on it");
  addFactors(command, flags.factors);
  addText(command, "--shares", "W,W,...|auto", flags.shares,
          "of ranks: how much of each batch each has, as 2,1 (default: as many samples each); auto: by what a "
          "step takes each of several processes");
  addZero(command, flags.zero);
  addAllowGather(command, flags.allowGather);
}

void addFactors(CLI::App &command, std::string &factors) {
  addChoice(command, "--factors", factors, {"auto", "never", "always"},
            "of ranks: gradients of dense layers whose factors are gathered, in place of adding up the ranks' "
            "products: auto (of large weights and few samples; default), never, or always (wherever fewer bytes "
            "move). Bits depend on it");
}

void addShardings(CLI::App &command, std::vector<std::string> &shardings) {
  command
      .add_option("--shard", shardings,
                  "the axes of --mesh of each dimension of an input, a parameter or an output, - for none, several of "
                  "one joined by +; what is not said follows")
      ->type_name("NAME=AXIS,-,...");
}

void addSplit(CLI::App &command, MeshFlags &flags) {
  addText(command, "--mesh", "AXIS=N,...", flags.mesh,
          "axes of ranks, which are --devices 'cpu*N', threads without it, or processes of 'sprig launch': "
          "data=2,model=2");
  addShardings(command, flags.shardings);
}

Settings settingsOfRank(const Settings &settings, const RankPlace &place) {
  if (place.ranks == 1) return settings;
  Settings own = settings;
  // A process has its share of the cores already.
  int threads =
      settings.laneCount() ? settings.laneCount() : sprig_rt_default_threads() * (place.isProcess ? place.here : 1);
  own.devices.clear();
  own.links.clear(); // between ranks, not between devices of one
  own.threads = std::max(1, threads / place.here);
  return own;
}

} // namespace sprig::cli
