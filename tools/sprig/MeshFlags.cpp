#include "tools/sprig/MeshFlags.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

namespace sprig::cli {
namespace {

constexpr int kMostRanks = 256; // threads as ranks

int ranksOfMesh(const std::string &mesh) {
  auto refuse = [&](const std::string &why) -> Error { return Error(ErrorKind::usage, "--mesh " + mesh + ": " + why); };
  size_t equals = mesh.find('=');
  if (equals == std::string::npos) throw refuse("expected data=N");
  if (std::string axis = mesh.substr(0, equals); axis != "data")
    throw refuse("there is no strategy for an axis '" + axis + "', expected data=N");
  int ranks = 0;
  const char *first = mesh.data() + equals + 1, *last = mesh.data() + mesh.size();
  auto [end, error] = std::from_chars(first, last, ranks);
  if (error != std::errc() || end != last || ranks < 1 || ranks > kMostRanks)
    throw refuse("'" + std::string(first, last) + "' is no number of ranks from 1 to " + std::to_string(kMostRanks));
  return ranks;
}

} // namespace

int MeshFlags::ranks(const Settings &settings) const {
  if (!isGiven()) return 1;
  if (!strategy.empty() && strategy != "data")
    throw Error(ErrorKind::usage, "--strategy " + strategy + ": there is none of this name, expected data");
  rt::core::GivenDevices given = settings.parsedDevices();
  int devices = given.threads ? 1 : int(given.list.size());
  int ranks = mesh.empty() ? std::max(1, devices) : ranksOfMesh(mesh);
  std::string names = "--devices " + settings.givenDevices();
  if (devices && ranks != devices)
    throw Error(ErrorKind::usage, "--mesh " + mesh + ": " + std::to_string(ranks) + " ranks, and " + names + " names " +
                                      std::to_string(devices) + (devices == 1 ? " device" : " devices"));
  if (ranks > kMostRanks) throw Error(ErrorKind::usage, names + ": more than " + std::to_string(kMostRanks) + " ranks");
  if (ranks == 1) return 1;
  for (const rt::core::GivenDevice &device : given.list)
    if (device.kind != "cpu")
      throw Error(ErrorKind::unsupported,
                  names + ": ranks that train together are shares of the processor, expected 'cpu*" +
                      std::to_string(ranks) + "', not " + device.name());
  for (const std::string &target : settings.targets)
    if (!target.starts_with("cpu"))
      throw Error(ErrorKind::unsupported,
                  "--target " + target + ": ranks that train together are shares of the processor, expected cpu");
  if (!settings.places.empty())
    throw Error(ErrorKind::usage, "--place: has no meaning with --strategy data, where every rank has all layers");
  return ranks;
}

void addMesh(CLI::App &command, MeshFlags &flags) {
  command.add_option("--strategy", flags.strategy,
                     "how several devices are used: `data` gives each the whole model and a share of each batch "
                     "(default: layers are placed on them)");
  command.add_option("--mesh", flags.mesh, "axes over the devices: data=2 is --strategy data on 2 ranks");
}

Settings settingsOfRank(const Settings &settings, int ranks) {
  if (ranks == 1) return settings;
  Settings own = settings;
  int threads = settings.laneCount() ? settings.laneCount() : sprig_rt_default_threads();
  own.devices.clear();
  own.threads = std::max(1, threads / ranks);
  return own;
}

} // namespace sprig::cli
