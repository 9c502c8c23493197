#include "lib/Frontend/Bridge/RankFacts.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"
#include "mlir/IR/Builders.h"
#include "runtime/collective/Shares.h"
#include "runtime/comm/RankGroup.h"

using namespace mlir;

namespace sprig::frontend::bridge {

namespace dist = ir::dist;

void chooseFactors(func::FuncOp function, const PlanRanks &ranks, CompileOptions &options) {
  if (options.factors == FactorPolicy::never) return;
  options.dividesProducts = ranks.group->isWithinProcess();
  const int64_t count = ranks.group->ranks();
  SmallVector<int64_t> shares;
  for (int64_t rank = 0; rank < count; ++rank)
    shares.push_back(rt::collective::shareOf(ranks.samples, uint32_t(count), ranks.weights, uint32_t(rank)).size());
  if (llvm::all_equal(shares)) return; // all have one program
  // A rank with one sample or none has a program of another form.
  if (*llvm::min_element(shares) < 2) {
    options.factors = FactorPolicy::never;
    return;
  }
  // The function is as it was recorded, by the same source on all ranks, so all find the same sums.
  for (Operation *sum : dist::lateCollectives(function.getBody().front(), /*isOfOneRank=*/false))
    sum->setAttr(dist::kLateAttr, UnitAttr::get(function.getContext()));
  Builder b(function.getContext());
  function->setAttr(dist::kSharesAttr, b.getDenseI64ArrayAttr(shares));
  function->setAttr(dist::kSamplesAttr, b.getI64IntegerAttr(ranks.samples));
  function->setAttr(dist::kRankAttr, b.getI64IntegerAttr(ranks.group->rank()));
}

} // namespace sprig::frontend::bridge
