#include "lib/Shard/FactorAxes.h"

using namespace mlir;

namespace sprig::shard {

SmallVector<std::pair<unsigned, Axes>> axesOfFactors(const Mesh &mesh, const DimensionRule &rule,
                                                     const DimensionRule::Dim &dim, ArrayRef<unsigned> axes) {
  SmallVector<std::pair<unsigned, Axes>> split;
  for (unsigned factor : dim) split.push_back({factor, {}});
  if (dim.empty()) return split;
  if (dim.size() == 1) {
    split.front().second.assign(axes.begin(), axes.end());
    return split;
  }
  size_t at = 0;
  int64_t left = rule.factors[dim[0]].size;
  for (unsigned axis : axes) {
    while (left == 1 && at + 1 < dim.size()) left = rule.factors[dim[++at]].size;
    if (left % mesh.sizeOf(axis)) break;
    split[at].second.push_back(axis);
    left /= mesh.sizeOf(axis);
  }
  return split;
}

bool FactorAxes::canSay() const {
  auto dimCan = [&](const DimensionRule::Dim &dim) {
    if (dim.size() < 2) return true;
    bool isSplitUp = true; // what lies before
    for (unsigned factor : dim) {
      int64_t ranks = mesh.ranksOf(axes[factor]), size = rule.factors[factor].size;
      if (ranks > 1 && (!isSplitUp || size % ranks)) return false;
      isSplitUp = isSplitUp && ranks == size;
    }
    return true;
  };
  auto mapCan = [&](const DimensionRule::Map &map) { return llvm::all_of(map, dimCan); };
  return llvm::all_of(rule.operands, mapCan) && llvm::all_of(rule.results, mapCan);
}

void FactorAxes::extend(unsigned factor, ArrayRef<unsigned> wanted) {
  if (rule.factors[factor].kind == FactorKind::whole || !isPrefix(axes[factor], wanted)) return;
  for (unsigned axis : wanted.drop_front(axes[factor].size())) {
    if (uses(axis)) return;
    axes[factor].push_back(axis);
    if (canSay()) continue;
    axes[factor].pop_back();
    return;
  }
}

void FactorAxes::take(const DimensionRule::Map &map, ArrayRef<Axes> dims, llvm::function_ref<bool(unsigned)> only) {
  for (auto [dim, own] : llvm::zip_equal(map, dims))
    for (auto &[factor, wanted] : axesOfFactors(mesh, rule, dim, own))
      if (only(factor)) extend(factor, wanted);
}

SmallVector<Axes> FactorAxes::dimsOf(const DimensionRule::Map &map) const {
  SmallVector<Axes> dims;
  for (const DimensionRule::Dim &dim : map) {
    dims.emplace_back();
    for (unsigned factor : dim) llvm::append_range(dims.back(), axes[factor]);
  }
  return dims;
}

SmallVector<int64_t> FactorAxes::sizesOf(int64_t rank) const {
  SmallVector<int64_t> sizes;
  for (auto [factor, own] : llvm::zip_equal(rule.factors, axes))
    sizes.push_back(mesh.pieceOf(factor.size, own, rank).size());
  return sizes;
}

} // namespace sprig::shard
