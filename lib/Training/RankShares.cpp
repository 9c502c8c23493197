#include "lib/Training/RankShares.h"
#include "lib/Training/OptimizerShards.h"
#include "dialects/NN/NNShapeOps.h"
#include "runtime/collective/Shares.h"
#include <numeric>

using namespace mlir;

namespace sprig::training {

namespace dist = ir::dist;

static constexpr llvm::StringLiteral kMesh = "mesh", kAxis = "data";

int64_t RankShares::sizeOf(int64_t samples) const {
  return rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(rank)).size();
}

int64_t RankShares::beginOf(int64_t samples) const {
  return rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(rank)).begin;
}

bool RankShares::isEnough(int64_t samples) const {
  if (weights.empty()) return samples >= ranks;
  for (int each = 0; each < ranks; ++each)
    if (rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(each)).size() == 0) return false;
  return true;
}

static NameLoc named(ir::Expression &e, StringRef name) { return NameLoc::get(e.b.getStringAttr(name)); }
static FlatSymbolRefAttr meshOf(ir::Expression &e) { return FlatSymbolRefAttr::get(e.b.getContext(), kMesh); }
static ArrayAttr axesOf(ir::Expression &e) { return e.b.getStrArrayAttr({kAxis}); }
static dist::ReductionAttr sumOf(ir::Expression &e) {
  return dist::ReductionAttr::get(e.b.getContext(), dist::Reduction::sum);
}

static Value resultOf(Operation *collective, bool isLate) {
  if (isLate) collective->setAttr(dist::kLateAttr, UnitAttr::get(collective->getContext()));
  return collective->getResult(0);
}

Value RankShares::sum(ir::Expression &e, Value value, StringRef name, bool isLate) const {
  if (isAlone()) return value;
  return resultOf(dist::AllReduceOp::create(e.b, named(e, name), value, sumOf(e), meshOf(e), axesOf(e), StringAttr()),
                  isLate);
}

bool RankShares::isShared(RankedTensorType type) const {
  return sharesState && shardOf(type.getNumElements(), ranks) > 0;
}

// A vector that ranks share evenly.
Value RankShares::padded(ir::Expression &e, Value value) const {
  int64_t elements = ir::Expression::typeOf(value).getNumElements();
  int64_t more = shardOf(elements, ranks) * ranks - elements;
  Value flat = e.reshape(value, {elements});
  if (!more) return flat;
  return ir::PadOp::create(e.b, e.loc, ir::PadMode::constant, flat, e.splat(flat, 0), ArrayRef<int64_t>{0},
                           ArrayRef<int64_t>{more});
}

static RankedTensorType vectorOf(Value like, int64_t elements) {
  return RankedTensorType::get({elements}, ir::Expression::typeOf(like).getElementType());
}

Value RankShares::piece(ir::Expression &e, Value value) const {
  Value all = padded(e, value);
  auto type = vectorOf(all, ir::Expression::typeOf(all).getNumElements() / ranks);
  return dist::PartOp::create(e.b, e.loc, type, all, meshOf(e), axesOf(e), StringAttr());
}

Value RankShares::pieceOfSum(ir::Expression &e, Value value, StringRef name, bool isLate) const {
  Value all = padded(e, value);
  Type type = vectorOf(all, ir::Expression::typeOf(all).getNumElements() / ranks);
  return resultOf(
      dist::ReduceScatterOp::create(e.b, named(e, name), type, all, sumOf(e), meshOf(e), axesOf(e), StringAttr()),
      isLate);
}

Value RankShares::whole(ir::Expression &e, Value piece, RankedTensorType type, StringRef name, bool isLate) const {
  Type padded = vectorOf(piece, ir::Expression::typeOf(piece).getNumElements() * ranks);
  Value all = resultOf(
      dist::AllGatherOp::create(e.b, named(e, name), padded, piece, meshOf(e), axesOf(e), StringAttr()), isLate);
  if (padded != vectorOf(piece, type.getNumElements()))
    all = ir::SliceOp::create(e.b, e.loc, all, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{type.getNumElements()},
                              ArrayRef<int64_t>{1});
  return e.reshape(all, type.getShape());
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
  differs |= !weights.empty() || llvm::any_of(passes, [&](int64_t samples) { return samples % ranks != 0; });
  if (!differs) return;
  function->setAttr(dist::kRankAttr, b.getI64IntegerAttr(rank));
  if (passes.size() != 1) return;
  SmallVector<int64_t> shares;
  for (int each = 0; each < ranks; ++each)
    shares.push_back(rt::collective::shareOf(passes[0], uint32_t(ranks), weights, uint32_t(each)).size());
  function->setAttr(dist::kSharesAttr, b.getDenseI64ArrayAttr(shares));
}

} // namespace sprig::training
