// The passes that make a program of dispatches: schedule, choose-threads,
// join-branches, inline-dispatches, repeat-programs, overlap-collectives, plan-memory, merge-dispatches, assign-lanes,
// verify-order. For the pipeline, which builds the phases `schedule` and `plan` of them, and sprig-opt, which offers
// each alone.
// The file of a pass defines GEN_PASS_DEF_<PASS> in front of this header, for the base class that it gets: so it is
// read more than once.
#ifndef SPRIG_SCHEDULE_PASSES_H
#define SPRIG_SCHEDULE_PASSES_H
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"
#include "mlir/Pass/Pass.h"

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION

namespace sprig {
struct ChooseThreadsOptions;

/// More repetitions of a program in one call than this are refused.
inline constexpr int64_t kMostRepetitions = 256;

/// What is worth a thread on a machine, for a number of threads (0: any).
ChooseThreadsOptions threadShares(const machine::MachineModel &model, int64_t threads);
} // namespace sprig
#endif

namespace sprig {
#include "lib/Schedule/Passes.h.inc"
} // namespace sprig
