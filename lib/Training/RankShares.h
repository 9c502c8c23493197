// What a training step knows of the ranks that take it together: its part of a batch, sums over all of them.
// For StepBuilder and the forms that it writes. Each rank has the whole model and a piece of each forward pass's
// samples; what is a mean over samples is weighed, so that sums over ranks are those of one rank that has all samples.
#pragma once
#include "dialects/Dist/Dist.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "mlir/IR/BuiltinOps.h"

namespace sprig::training {

class RankShares {
public:
  explicit RankShares(int rank = 0, int ranks = 1) : rank(rank), ranks(ranks) {}

  bool isAlone() const { return ranks == 1; }
  /// This rank's samples of so many, as lib/Loader deals them: sizes differ by one at most, larger ones come first.
  int64_t sizeOf(int64_t samples) const;
  int64_t beginOf(int64_t samples) const;
  /// Whether every rank has one of so many.
  bool isEnough(int64_t samples) const { return samples >= ranks; }
  /// Its part of a mean over so many samples.
  double weightOf(int64_t samples) const { return isAlone() ? 1 : double(sizeOf(samples)) / double(samples); }

  /// Over all ranks; the value itself where there is one. `name` is what profiles and errors call it. `isLate`: nothing
  /// waits for it but what may come at the step's end, on any rank.
  mlir::Value sum(ir::Expression &e, mlir::Value value, llvm::StringRef name, bool isLate = false) const;

  /// Declares the mesh that sums are over.
  void declare(mlir::ModuleOp module) const;
  /// States on an entry whose it is: of these forward passes, and where it differs from rank to rank, whose.
  void describe(mlir::Operation *function, llvm::ArrayRef<int64_t> passes, bool differs) const;

private:
  int rank, ranks;
};

} // namespace sprig::training
