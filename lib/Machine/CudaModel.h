// Rates of NVIDIA's GPUs for the scheduler: public figures of one common card for each architecture, not measured ones.
// They may decide how fast a program is, never what it computes.
#pragma once
#include "lib/Machine/MachineModel.h"

namespace sprig::machine {

/// By "sm_90"; of sm_80 for a name that is none. One thread is the whole device, and a hand-off a launch.
MachineModel cudaModel(std::string_view architecture);

} // namespace sprig::machine
