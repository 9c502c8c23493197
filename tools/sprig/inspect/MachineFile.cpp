#include "tools/sprig/inspect/MachineFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
namespace sprig::cli {

// The folder is the user's own and closed to others: what lies in it is trusted.
void makeCacheFolder() {
  fs::path folder = machine::cacheFolder();
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  ::mkdir(folder.c_str(), 0700);
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw Error(ErrorKind::runtime, folder.string() + ": cannot make the cache folder");
  if (status.st_uid != ::geteuid())
    throw Error(ErrorKind::runtime, folder.string() + ": the cache folder belongs to another user");
}

static void keepCalibration(const machine::Calibration &found) {
  try {
    makeCacheFolder();
    data::writeFile(machine::calibrationFile(), machine::calibrationToText(found));
  } catch (const Error &error) {
    warn(std::string("the measurements are not kept: ") + error.what());
  }
}

machine::Calibration measureMachine(const machine::Cpu &cpu, machine::SweepLimits limits) {
  return machine::calibrate(cpu, limits, [&](int sweep) {
    if (sweep == limits.least + 1)
      inform("the measurements are not steady yet: up to " + std::to_string(limits.most - limits.least) +
             " further sweeps");
  });
}

machine::Calibration calibrateAndKeep(const machine::Cpu &cpu, machine::SweepLimits limits) {
  machine::Calibration result = measureMachine(cpu, limits);
  keepCalibration(result);
  return result;
}

std::string keepSteadier(const machine::Calibration &found) {
  std::optional<machine::Calibration> kept = machine::keptCalibration();
  std::string now = "this one (" + found.steadiness.describe() + ")";
  if (kept && !found.steadiness.isSteadierThan(kept->steadiness))
    return "the calibration that was kept (" + kept->steadiness.describe() + ") stays: it is at least as steady as " +
           now;
  keepCalibration(found);
  return kept ? now + " is kept: it is steadier than the calibration before (" + kept->steadiness.describe() + ")"
              : now + " is kept as this machine's calibration";
}

void warnIfUnsteady(const machine::Calibration &found) {
  const machine::Steadiness &steadiness = found.steadiness;
  if (steadiness.sweeps == 0 || steadiness.isSteady()) return;
  warn(
      "this machine was measured while others used it, or its clock changed: " + steadiness.describe() +
      "; rates may be too low, so predictions too slow: 'sprig devices --calibrate' on a quiet machine measures again");
}

machine::Calibration calibration(const machine::Cpu &cpu) {
  if (auto kept = machine::keptCalibration()) return *kept;
  inform("measuring this machine once (a few seconds)");
  return calibrateAndKeep(cpu, {1, 1});
}

} // namespace sprig::cli
