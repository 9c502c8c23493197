// The passes that make a program of dispatches: schedule, choose-threads,
// join-branches, inline-dispatches, repeat-programs, overlap-collectives, plan-memory, merge-dispatches, assign-lanes,
// verify-order. For the pipeline, which builds the phases `schedule` and `plan` of them, and sprig-opt, which offers
// each alone.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"
#include "mlir/Pass/Pass.h"

namespace sprig {
#define GEN_PASS_DECL
#include "lib/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"

/// More repetitions of a program in one call than this are refused.
inline constexpr int64_t kMostRepetitions = 256;

/// What is worth a thread on a machine, for a number of threads (0: any).
ChooseThreadsOptions threadShares(const machine::MachineModel &model, int64_t threads);

} // namespace sprig
