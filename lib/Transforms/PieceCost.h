// What a call takes whose samples go through a network in pieces, by the machine model. For the pass split-samples.
#pragma once
#include "lib/Machine/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace sprig {

/// Products and convolutions of a function, by what they read and write of memory: what of it is in which cache
/// depends on how many samples go through all of them together.
class PieceCost {
public:
  PieceCost(mlir::func::FuncOp function, const machine::MachineModel &model, int64_t threads);

  /// The expected time of a call in pieces of so many samples, on the threads.
  double seconds(int64_t piece) const;
  /// On one thread.
  double secondsOnOne(int64_t piece) const;

private:
  struct Product {
    double flops, read, written; ///< of one sample
    double constants;            ///< bytes
  };
  llvm::SmallVector<Product> products;
  double constants = 0; ///< bytes of all
  int64_t samples;
  int64_t threads;
  machine::MachineModel model;
};

} // namespace sprig
