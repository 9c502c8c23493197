#include "lib/Shard/FactorAxes.h"

using namespace mlir;

namespace sprig::shard {

DimensionRule ruleToDivide(Operation *op) {
  auto own = dyn_cast<DimensionRuleOpInterface>(op);
  return own ? own.getDimensionRule() : dimensionRuleOf(op);
}

/// Positions of the factors of a dimension, from one to before another.
static int64_t positionsOf(const DimensionRule &rule, ArrayRef<unsigned> factors) {
  return llvm::product_of(llvm::map_range(factors, [&](unsigned factor) { return rule.factors[factor].size; }));
}

/// A cut of one factor as one of a dimension that has `before` positions of major factors and `after` of minor ones.
static unsigned widened(const Mesh &mesh, unsigned axis, int64_t size, int64_t before, int64_t after) {
  Cut cut = mesh.cutOf(axis);
  cut.blocks = cut.blocksOf(size);
  bool isEven = before == 1 && cut.weights.empty() && cut.blocks.size() == 1 && cut.blocks[0] % mesh.sizeOf(axis) == 0;
  if (isEven) return cut.axis;
  std::vector<int64_t> once = cut.blocks;
  for (int64_t i = 1; i < before; ++i) llvm::append_range(cut.blocks, once);
  cut.unit *= after;
  return mesh.numberOf(std::move(cut));
}

/// The factor of a dimension that a cut of it is one of, and the cut of that factor; none where it is of no single one.
static std::optional<std::pair<unsigned, unsigned>> narrowed(const Mesh &mesh, const DimensionRule &rule,
                                                             const DimensionRule::Dim &dim, unsigned axis) {
  Cut whole = mesh.cutOf(axis);
  whole.blocks = whole.blocksOf(positionsOf(rule, dim));
  for (auto [at, factor] : llvm::enumerate(dim)) {
    int64_t before = positionsOf(rule, ArrayRef(dim).take_front(at)),
            after = positionsOf(rule, ArrayRef(dim).drop_front(at + 1)), count = int64_t(whole.blocks.size());
    if (before == 0 || after == 0 || whole.unit % after || count % before) continue;
    Cut cut = whole;
    cut.unit /= after;
    cut.blocks.resize(size_t(count / before));
    bool repeats = llvm::all_of(llvm::seq<size_t>(0, size_t(count)),
                                [&](size_t i) { return whole.blocks[i] == cut.blocks[i % cut.blocks.size()]; });
    if (!repeats || llvm::sum_of(cut.blocks) * cut.unit != rule.factors[factor].size) continue;
    return std::pair(factor, mesh.numberOf(std::move(cut)));
  }
  return std::nullopt;
}

SmallVector<std::pair<unsigned, Axes>> axesOfFactors(const Mesh &mesh, const DimensionRule &rule,
                                                     const DimensionRule::Dim &dim, ArrayRef<unsigned> axes) {
  SmallVector<std::pair<unsigned, Axes>> split;
  for (unsigned factor : dim) split.push_back({factor, {}});
  if (dim.empty()) return split;
  if (dim.size() == 1) {
    split.front().second.assign(axes.begin(), axes.end());
    return split;
  }
  if (axes.size() == 1 && !mesh.isEven(axes)) {
    if (auto own = narrowed(mesh, rule, dim, axes[0]))
      split[size_t(llvm::find(dim, own->first) - dim.begin())].second = {own->second};
    return split;
  }
  auto isLarger = [&](unsigned factor) { return rule.factors[factor].size != 1; };
  if (llvm::count_if(dim, isLarger) == 1) {
    split[size_t(llvm::find_if(dim, isLarger) - dim.begin())].second.assign(axes.begin(), axes.end());
    return split;
  }
  size_t at = 0;
  int64_t left = rule.factors[dim[0]].size;
  for (unsigned axis : axes) {
    while (left == 1 && at + 1 < dim.size()) left = rule.factors[dim[++at]].size;
    if (!mesh.isEven(axis) || left % mesh.sizeOf(axis)) break;
    split[at].second.push_back(axis);
    left /= mesh.sizeOf(axis);
  }
  return split;
}

FactorAxes::FactorAxes(const Mesh &mesh, const DimensionRule &rule)
    : mesh(mesh), rule(rule), axes(rule.factors.size()) {
  for (auto [factor, own] : llvm::zip_equal(rule.factors, axes))
    if (factor.axes)
      for (Attribute name : factor.axes)
        if (std::optional<unsigned> axis = mesh.axisNamed(cast<StringAttr>(name))) own.push_back(*axis);
}

// Of several factors evenly one after the other, or of one a cut.
std::optional<Axes> FactorAxes::axesOf(const DimensionRule::Dim &dim) const {
  Axes all;
  bool isEven = true, isSplitUp = true; // what lies before
  for (unsigned factor : dim) llvm::append_range(all, axes[factor]);
  if (all.empty()) return all;
  for (unsigned factor : dim) {
    int64_t ranks = mesh.ranksOf(axes[factor]), size = rule.factors[factor].size;
    isEven &= mesh.isEven(axes[factor]) && (ranks == 1 || (isSplitUp && size % ranks == 0));
    isSplitUp = isSplitUp && ranks == size;
  }
  bool areNeighbours = llvm::all_of(all, [&](unsigned axis) { return mesh.cutOf(axis).isOfNeighbours(); });
  if (dim.size() < 2) return all.size() < 2 || areNeighbours ? std::optional(all) : std::nullopt;
  if (isEven) return all;
  if (all.size() > 1) return std::nullopt;
  auto *at = llvm::find_if(dim, [&](unsigned factor) { return !axes[factor].empty(); });
  auto number = size_t(at - dim.begin());
  return Axes{widened(mesh, all[0], rule.factors[*at].size, positionsOf(rule, ArrayRef(dim).take_front(number)),
                      positionsOf(rule, ArrayRef(dim).drop_front(number + 1)))};
}

bool FactorAxes::canSay() const {
  auto mapCan = [&](const DimensionRule::Map &map) {
    return llvm::all_of(map, [&](const DimensionRule::Dim &dim) { return axesOf(dim).has_value(); });
  };
  return llvm::all_of(rule.operands, mapCan) && llvm::all_of(rule.results, mapCan);
}

void FactorAxes::extend(unsigned factor, ArrayRef<unsigned> wanted) {
  const Factor &own = rule.factors[factor];
  if (own.kind == FactorKind::whole) return;
  if (own.axes) { // as whoever deals rows along these axes has them
    bool isAlong = llvm::equal(axes[factor], wanted, [&](unsigned a, unsigned b) { return a == mesh.axisOf(b); });
    if (isAlong) axes[factor].assign(wanted.begin(), wanted.end());
    return;
  }
  if (!isPrefix(axes[factor], wanted)) return;
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
  return llvm::map_to_vector(map, [&](const DimensionRule::Dim &dim) { return *axesOf(dim); });
}

SmallVector<int64_t> FactorAxes::sizesOf(int64_t rank) const {
  SmallVector<int64_t> sizes;
  for (auto [factor, own] : llvm::zip_equal(rule.factors, axes)) sizes.push_back(mesh.countOf(factor.size, own, rank));
  return sizes;
}

} // namespace sprig::shard
