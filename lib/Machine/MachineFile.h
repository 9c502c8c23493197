// The cache folder, and what was measured of this machine as it is kept there.
// For the command line, which measures and writes, and for cost models, which read. Reading never fails: a file that
// is damaged, of another machine or of another version is as good as none.
#pragma once
#include "lib/Machine/Calibrate.h"
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sprig::machine {

/// $SPRIG_CACHE, else $XDG_CACHE_HOME/sprig, else ~/.cache/sprig.
std::filesystem::path cacheFolder();

/// What tells one kind of machine from another, asked from the processor itself: quick enough for every compile.
struct Identity {
  std::string model, isa;
  int processors = 0;
};
const Identity &machineIdentity();

/// machine-KEY.json in the cache folder; machines that share the folder have files of their own.
std::filesystem::path calibrationFile();
std::string calibrationToText(const Calibration &calibration);
std::optional<Calibration> calibrationFromText(std::string_view text);
/// What was kept of this machine.
std::optional<Calibration> keptCalibration();

} // namespace sprig::machine
