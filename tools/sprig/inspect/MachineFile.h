// Measures this machine and keeps what was found.
// For devices, bench and profile; lib/Machine/MachineFile.h reads it.
#pragma once
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/MachineFile.h"
#include <string>

namespace sprig::cli {

/// Measures, and says on standard error where that takes longer than usual.
machine::Calibration measureMachine(const machine::Cpu &cpu, machine::SweepLimits limits);
/// Measures and keeps; a folder that cannot be written is a warning.
machine::Calibration calibrateAndKeep(const machine::Cpu &cpu, machine::SweepLimits limits);
/// Keeps what was measured unless what is kept is at least as steady; says in a sentence which of both is kept.
std::string keepSteadier(const machine::Calibration &found);
/// A warning where others disturbed what was measured.
void warnIfUnsteady(const machine::Calibration &found);
/// What was kept, else measured now, in one sweep.
machine::Calibration calibration(const machine::Cpu &cpu);

} // namespace sprig::cli
