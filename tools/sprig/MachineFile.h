// The measured rates of this machine, kept in the cache folder ($SPRIG_CACHE, default ~/.cache/sprig) between runs.
#pragma once
#include "lib/Machine/Calibrate.h"
#include <filesystem>
#include <optional>

namespace sprig::cli {

/// $SPRIG_CACHE, else $XDG_CACHE_HOME/sprig, else ~/.cache/sprig.
std::filesystem::path cacheFolder();

/// What was kept for this processor; nothing when there is none or it cannot be read.
std::optional<machine::Calibration> keptCalibration(const machine::Cpu &cpu);

/// Measures and keeps; a folder that cannot be written is a warning.
machine::Calibration calibrateAndKeep(const machine::Cpu &cpu);

} // namespace sprig::cli
