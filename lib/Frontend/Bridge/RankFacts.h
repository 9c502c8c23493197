// What the compiler is told of the ranks whose program a function is.
// For plans. It follows from what all ranks know, so that all of them are told the same.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig::frontend::bridge {

/// Where factors of sums are to be gathered (options.factors): states on a function whose ranks have shares of several
/// sizes, whose it is, of how many samples, and which of its sums may come late. Where a rank has fewer than two
/// samples all add up as ever.
void chooseFactors(mlir::func::FuncOp function, const PlanRanks &ranks, CompileOptions &options);

} // namespace sprig::frontend::bridge
