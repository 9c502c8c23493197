#include "lib/Training/RankShares.h"
#include "runtime/collective/Collective.h"
#include <numeric>

using namespace mlir;

namespace sprig::training {

namespace dist = ir::dist;

static constexpr llvm::StringLiteral kMesh = "mesh", kAxis = "data";

int64_t RankShares::sizeOf(int64_t samples) const {
  return rt::collective::pieceOf(samples, uint32_t(ranks), uint32_t(rank)).size();
}

int64_t RankShares::beginOf(int64_t samples) const {
  return rt::collective::pieceOf(samples, uint32_t(ranks), uint32_t(rank)).begin;
}

Value RankShares::sum(ir::Expression &e, Value value, StringRef name, bool isLate) const {
  if (isAlone()) return value;
  auto loc = NameLoc::get(e.b.getStringAttr(name));
  auto reduce = dist::AllReduceOp::create(
      e.b, loc, value, dist::ReductionAttr::get(e.b.getContext(), dist::Reduction::sum),
      FlatSymbolRefAttr::get(e.b.getContext(), kMesh), e.b.getStrArrayAttr({kAxis}), StringAttr());
  if (isLate) reduce->setAttr(dist::kLateAttr, e.b.getUnitAttr());
  return reduce.getResult(0);
}

void RankShares::declare(ModuleOp module) const {
  if (isAlone()) return;
  module.getContext()->loadDialect<dist::DistDialect>();
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  dist::MeshOp::create(b, module.getLoc(), kMesh, b.getStrArrayAttr({kAxis}), ArrayRef<int64_t>{ranks});
}

void RankShares::describe(Operation *function, ArrayRef<int64_t> passes, bool differs) const {
  if (isAlone()) return;
  Builder b(function->getContext());
  function->setAttr(dist::kSamplesAttr, b.getI64IntegerAttr(std::accumulate(passes.begin(), passes.end(), int64_t(0))));
  differs |= llvm::any_of(passes, [&](int64_t samples) { return samples % ranks != 0; });
  if (differs) function->setAttr(dist::kRankAttr, b.getI64IntegerAttr(rank));
}

} // namespace sprig::training
