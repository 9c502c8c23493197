// The phases of a compilation, as a table.
// For the pipeline, for sprig-opt (which registers a pipeline per phase) and for tests. Names serve --compile-to,
// --compile-from and --dump-phases; after each phase only operations that it allows are left.
#pragma once
#include "lib/Shard/FactorRule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/options.h"
#include "llvm/Support/Error.h"

namespace sprig {

struct Phase {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// Adds the phase's passes, rooted at the module; null for phases that make bytes of the module.
  void (*build)(mlir::OpPassManager &passes, const CompileOptions &options);
  /// Whether an operation may be left behind the phase.
  bool (*allows)(mlir::Operation *op);
};

/// How the phase `shard` divides steps whose shardings a strategy has stated, for CompileOptions::rank; nothing without
/// a strategy. With `together` ranks have one program where all their parts are of one size.
void addDivisionPasses(mlir::OpPassManager &passes, const CompileOptions &options, bool together = true);

/// What the phase `shard` does before it divides: shardings of the options, and what follows of other values.
void addShardingPasses(mlir::OpPassManager &passes, const CompileOptions &options);

/// What it does to products whose sums ranks gather the factors of: for who looks at a step in front of
/// what joins its collectives.
void addFactorPasses(mlir::OpPassManager &passes, const CompileOptions &options, const FactorReport &report = nullptr);

/// All phases in order.
llvm::ArrayRef<Phase> phases();

/// The phase's place in the table; the error lists the names.
llvm::Expected<size_t> phaseByName(llvm::StringRef name);

/// Checks that only what the phase allows is left; reports each kind of operation that is not, once.
mlir::LogicalResult verifyBoundary(mlir::ModuleOp module, const Phase &phase);

/// Registers every dialect that the pipeline reads or makes.
void registerSprigDialects(mlir::DialectRegistry &registry);

/// Registers every pass, and a pipeline `sprig-phase-NAME` for every phase that consists of passes.
void registerSprigPassesAndPhases();

} // namespace sprig
