#include "tools/sprig/MachineFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

fs::path machineFile() { return cacheFolder() / "machine.json"; }

// The folder is the user's own and closed to others: what lies in it is trusted.
void makeCacheFolder() {
  fs::path folder = cacheFolder();
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  ::mkdir(folder.c_str(), 0700);
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw Error(ErrorKind::runtime, folder.string() + ": cannot make the cache folder");
  if (status.st_uid != ::geteuid())
    throw Error(ErrorKind::runtime, folder.string() + ": the cache folder belongs to another user");
}

} // namespace

fs::path cacheFolder() {
  if (const char *folder = std::getenv("SPRIG_CACHE"); folder && *folder) return folder;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base) return fs::path(base) / "sprig";
  const char *home = std::getenv("HOME");
  return fs::path(home && *home ? home : "/tmp") / ".cache" / "sprig";
}

std::optional<machine::Calibration> keptCalibration(const machine::Cpu &cpu) {
  try {
    std::error_code error;
    if (!fs::exists(machineFile(), error)) return std::nullopt;
    auto bytes = data::readFile(machineFile());
    Json json = Json::parse(bytes.begin(), bytes.end());
    machine::Calibration result;
    result.model = json.at("model");
    result.isa = json.at("isa");
    result.fmaFlops = json.at("f32_flops_per_second");
    result.readBandwidth = json.at("read_bytes_per_second").get<std::vector<double>>();
    result.cacheKnees = json.at("cache_knees_bytes").get<std::vector<int64_t>>();
    for (auto &point : json.at("latency")) result.latency.push_back({point.at(0), point.at(1)});
    bool sound =
        result.model == cpu.model && result.isa == cpu.isa && !result.readBandwidth.empty() && !result.latency.empty();
    return sound ? std::optional(result) : std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt; // a damaged file is measured anew
  }
}

machine::Calibration calibrateAndKeep(const machine::Cpu &cpu) {
  machine::Calibration result = machine::calibrate(cpu);
  Json latency = Json::array();
  for (auto &point : result.latency) latency.push_back({point.workingSet, point.ns});
  Json json = {{"model", result.model},
               {"isa", result.isa},
               {"f32_flops_per_second", result.fmaFlops},
               {"read_bytes_per_second", result.readBandwidth},
               {"cache_knees_bytes", result.cacheKnees},
               {"latency", latency}};
  try {
    makeCacheFolder();
    std::string text = json.dump(1) + "\n";
    data::writeFile(machineFile(), text);
  } catch (const Error &error) {
    warn(std::string("the measurements are not kept: ") + error.what());
  }
  return result;
}

} // namespace sprig::cli
