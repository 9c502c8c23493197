// A program of few samples in place of one of many, where a call's samples do not depend on each other; see Passes.td.
#include "dialects/Dist/Dist.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/PartitionRank.h"
#include "lib/Target/Registry.h"
#define GEN_PASS_DEF_SPLITSAMPLES
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PieceCost.h"
#include "lib/Transforms/SampleAxes.h"
#include "runtime/base/Decimal.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sprig;

/// Those of a number that are less than it, from the least on.
static SmallVector<int64_t> properDivisors(int64_t number) {
  SmallVector<int64_t> divisors;
  for (int64_t each = 1; each * each <= number; ++each) {
    if (number % each != 0) continue;
    divisors.push_back(each);
    divisors.push_back(number / each);
  }
  llvm::sort(divisors);
  divisors.erase(llvm::unique(divisors), divisors.end());
  divisors.pop_back();
  return divisors;
}

/// Makes the function that of the first of so many pieces, along a mesh of which each place has one. The other pieces'
/// functions are the same, since samples have the rest in common.
static LogicalResult makePiece(func::FuncOp function, int64_t pieces) {
  Builder b(function.getContext());
  shard::Mesh mesh(FlatSymbolRefAttr::get(b.getContext(), "pieces"), b.getStrArrayAttr({"pieces"}), pieces);
  for (BlockArgument argument : function.getArguments()) {
    auto bySamples = shard::Sharding::replicated(argument.getType());
    bySamples.dims[0].push_back(0);
    function.setArgAttr(argument.getArgNumber(), ir::dist::kShardingAttr, mesh.write(bySamples));
  }
  function->setAttr(kernel::kPiecesAttr, b.getI64IntegerAttr(pieces));
  return shard::partitionForRank(function, mesh, /*rank=*/0);
}

namespace {
struct SplitSamples : sprig::impl::SplitSamplesBase<SplitSamples> {
  using SplitSamplesBase::SplitSamplesBase;

  void runOnOperation() override {
    // Functions that ranks share are divided among them first.
    FailureOr<ir::dist::MeshOp> stated = shard::findMesh(getOperation());
    if (failed(stated)) return signalPassFailure();
    if (*stated) return;
    std::optional<machine::MachineModel> model; // read where something may be split
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(ir::kIndependentSamplesAttr) || function->hasAttr(ir::kRepeatAttr) ||
          function->hasAttr(kernel::kPiecesAttr))
        continue;
      int64_t all = samplesOf(function);
      if (all == 1) continue;
      SampleAxes axes(function, all);
      if (!mayBeSplit(function, axes)) continue;
      if (!model) model = machineForPass(getOperation(), target, architectures);
      if (!model) return signalPassFailure();
      split(function, all, PieceCost(function, *model, model->threadsFor(threads)));
    }
  }

private:
  // What is split must be expected to take less than this share of the time, and on one thread not much longer: the
  // number of threads may be another. Of what takes about as long as the best, the largest pieces read constants least,
  // and the smallest serve the most threads.
  static constexpr double kWorthyShare = 0.99, kMostOnOne = 1.02, kAboutTheBest = 1.01;

  // Loops over time have the samples in their products' rows; state is of the whole call; what nobody reads may be of
  // all samples.
  static bool mayBeSplit(func::FuncOp function, const SampleAxes &axes) {
    auto isMixed = [&](Value value) { return axes.get(value).isMixed(); };
    return llvm::all_of(function.getBody().front().without_terminator(), [&](Operation &op) {
      return op.getNumRegions() == 0 && !isa<ir::GetParamOp, ir::SetParamOp>(op) &&
             llvm::none_of(op.getResults(), isMixed);
    });
  }

  // As many as all where no pieces are expected to take less.
  int64_t bestPiece(int64_t all, const PieceCost &cost) const {
    double least = kWorthyShare * cost.seconds(all), most = kMostOnOne * cost.secondsOnOne(all);
    SmallVector<int64_t> sizes = llvm::filter_to_vector(properDivisors(all), [&](int64_t piece) {
      return cost.seconds(piece) < least && cost.secondsOnOne(piece) < most;
    });
    for (int64_t piece : sizes) least = std::min(least, cost.seconds(piece));
    llvm::erase_if(sizes, [&](int64_t piece) { return cost.seconds(piece) > kAboutTheBest * least; });
    return sizes.empty() ? all : threads == 0 ? sizes.front() : sizes.back();
  }

  void split(func::FuncOp function, int64_t all, const PieceCost &cost) {
    int64_t best = samples == 0 ? bestPiece(all, cost) : all % samples == 0 ? int64_t(samples) : all;
    auto name = remark::RemarkOpts::name("samples").category("fuse");
    if (best == all) {
      remark::missed(function.getLoc(), name)
          << llvm::formatv("'{0}': {1} samples go through it together in {2} us; no pieces of them are expected "
                           "to take less",
                           function.getSymName(), all, decimal::fixed(cost.seconds(all) * 1e6, 2))
                 .str();
      return;
    }
    remark::passed(function.getLoc(), name)
        << llvm::formatv("'{0}': {1} samples go through it in pieces of {2}, in {3} us; together {4}",
                         function.getSymName(), all, best, decimal::fixed(cost.seconds(best) * 1e6, 2),
                         decimal::fixed(cost.seconds(all) * 1e6, 2))
               .str();
    if (failed(makePiece(function, all / best))) signalPassFailure();
  }
};
} // namespace
