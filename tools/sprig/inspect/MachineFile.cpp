#include "tools/sprig/inspect/MachineFile.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {

static void keep(const machine::Calibration &found) {
  if (std::string why = machine::keepCalibration(found); !why.empty()) warn("the measurements are not kept: " + why);
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
  keep(result);
  return result;
}

std::string keepSteadier(const machine::Calibration &found) {
  std::optional<machine::Calibration> kept = machine::keptCalibration();
  std::string now = "this one (" + found.steadiness.describe() + ")";
  if (kept && !found.steadiness.isSteadierThan(kept->steadiness))
    return "the calibration that was kept (" + kept->steadiness.describe() + ") stays: it is at least as steady as " +
           now;
  keep(found);
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
