// What was measured of this machine, as it is kept in the cache folder.
// For the command line, which measures and writes, and for cost models, which read. Reading never fails: a file that
// is damaged, of another machine or of another version, or that others could have put there, is as good as none.
#pragma once
#include "lib/Machine/Calibrate.h"
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sprig::machine {

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
/// Keeps what was measured of this machine; why it is not kept, empty when it is.
std::string keepCalibration(const Calibration &calibration);

} // namespace sprig::machine
