// The placement problem of a function, and its answer as attributes.
// For the pass `place`. Units are what fusion is likely to make one kernel of: an operation with a kernel of its own
// and the elementwise operations, reductions and views behind it.
#pragma once
#include "lib/Machine/MachineModel.h"
#include "lib/Place/Pins.h"
#include "lib/Place/Placement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sprig/options.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace sprig::place {

/// The devices of a module, with how fast each is.
struct Devices {
  std::vector<std::string> names;
  std::vector<machine::MachineModel> machines;          // of each
  std::vector<int> threads;                             // that each has
  std::vector<std::optional<machine::Link>> links = {}; // as in PlacementProblem
  /// Of devices of several kinds the one in whose memory the caller's arrays are: what others read of inputs goes
  /// there, and their results come back. Among devices of one kind that is the same for all and counts nowhere.
  std::optional<unsigned> host = {};
  std::vector<double> handOvers = {}; ///< beside a host, what it takes to hand a kernel over to each; shorter: nothing
};

class FunctionPlacement {
public:
  /// `homes` are those of parameters that functions before this one have decided.
  FunctionPlacement(mlir::func::FuncOp function, const Devices &devices, Pins pins,
                    const llvm::DenseMap<mlir::Attribute, unsigned> &homes);

  void choose() { deviceOfUnit = Placer(problem).choose(); }
  /// Writes kernel.device on operations, and homes that were not decided yet to `homes`.
  void write(llvm::DenseMap<mlir::Attribute, unsigned> &homes) const;

  // Explain.cpp
  Placement explain();

private:
  void addOperation(mlir::Operation *op, Pins pins);
  void addInputs(unsigned host);
  void addOutputs(unsigned host);
  unsigned unitFor(mlir::Operation *op, std::optional<unsigned> pin);
  void addCosts();
  std::optional<unsigned> valueOf(mlir::Value value) const;

  mlir::func::FuncOp function;
  const Devices &devices;
  PlacementProblem problem;
  llvm::MapVector<mlir::Operation *, unsigned> operations; // their numbers
  llvm::DenseMap<mlir::Value, unsigned> values;
  llvm::MapVector<mlir::Attribute, unsigned> params;
  std::vector<unsigned> deviceOfUnit;
};

} // namespace sprig::place
