// A graph as the function that a plan is compiled from.
// For plans, and for what is chosen of them before.
#pragma once
#include "lib/Frontend/Bridge/Entries.h"

namespace sprig::frontend::bridge {

/// Adds it to the module, with what is known of its ranks; completes the options of the phases. Memory of states comes
/// with each run.
mlir::func::FuncOp addPlanFunction(mlir::ModuleOp module, const Graph &graph, std::span<const StateSlot> states,
                                   const std::string &name, const PlanRanks &ranks, CompileOptions &options);

/// Runs the phases in front of `shard` on a function that ranks divide, so that it is stated how, and says what its
/// link takes; leaves others alone. `options` become those of the phases behind.
void stateDivision(mlir::ModuleOp module, const PlanRanks &ranks, CompileOptions &options);

} // namespace sprig::frontend::bridge
