// What a training step knows of the ranks that take it together: its part of a batch, sums over all of them.
// For StepBuilder and the forms that it writes. Each rank has the whole model and a piece of each forward pass's
// samples; what is a mean over samples is weighed, so that sums over ranks are those of one rank that has all samples.
#pragma once
#include "dialects/Dist/Dist.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace sprig::training {

class RankShares {
public:
  /// With `sharesState` each holds and updates its piece of the optimizer's tensors (OptimizerShards.h).
  /// `weights` are of shares that differ; none: even ones.
  explicit RankShares(int rank = 0, int ranks = 1, bool sharesState = false, std::vector<int64_t> weights = {})
      : rank(rank), ranks(ranks), sharesState(sharesState), weights(std::move(weights)) {}

  bool isAlone() const { return ranks == 1; }
  /// This rank's samples of so many, as lib/Loader deals them where they are even (runtime/collective/Shares.h).
  int64_t sizeOf(int64_t samples) const;
  int64_t beginOf(int64_t samples) const;
  /// Whether every rank has one of so many.
  bool isEnough(int64_t samples) const;
  /// Its part of a mean over so many samples.
  double weightOf(int64_t samples) const { return isAlone() ? 1 : double(sizeOf(samples)) / double(samples); }

  /// Over all ranks; the value itself where there is one. `name` is what profiles and errors call it. `isLate`: nothing
  /// waits for it but what may come at the step's end, on any rank.
  mlir::Value sum(ir::Expression &e, mlir::Value value, llvm::StringRef name, bool isLate = false) const;

  /// Whether each rank holds a piece alone of the optimizer's tensors for a parameter of this type.
  bool isShared(mlir::RankedTensorType type) const;
  /// This rank's piece of a value that all have, and of the sum of all ranks' values; a vector.
  mlir::Value piece(ir::Expression &e, mlir::Value value) const;
  mlir::Value pieceOfSum(ir::Expression &e, mlir::Value value, llvm::StringRef name, bool isLate = false) const;
  /// The value of this type that all ranks' pieces make up.
  mlir::Value whole(ir::Expression &e, mlir::Value piece, mlir::RankedTensorType type, llvm::StringRef name,
                    bool isLate = false) const;

  /// Declares the mesh that sums are over.
  void declare(mlir::ModuleOp module) const;
  /// States on an entry whose it is: of these forward passes, and where it differs from rank to rank, whose.
  void describe(mlir::Operation *function, llvm::ArrayRef<int64_t> passes, bool differs) const;

private:
  mlir::Value padded(ir::Expression &e, mlir::Value value) const;

  int rank, ranks;
  bool sharesState;
  std::vector<int64_t> weights;
};

} // namespace sprig::training
