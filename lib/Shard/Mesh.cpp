#include "lib/Shard/Mesh.h"
#include "runtime/collective/Shares.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

Sharding Sharding::replicated(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return {SmallVector<Axes>(tensor ? size_t(tensor.getRank()) : 0), {}};
}

Mesh::Mesh(dist::MeshOp op) : Mesh(FlatSymbolRefAttr::get(op.getSymNameAttr()), op.getAxes(), op.getSizes()) {}

Mesh::Mesh(FlatSymbolRefAttr symbol, ArrayAttr axes, ArrayRef<int64_t> sizes)
    : name(symbol), axes(axes.getAsRange<StringAttr>()), sizes(sizes), steps(sizes.size()) {
  int64_t step = 1;
  for (size_t axis = sizes.size(); axis-- > 0; step *= sizes[axis]) steps[axis] = step;
}

std::optional<unsigned> Mesh::axisNamed(StringRef axis) const {
  auto found = llvm::find_if(axes, [&](StringAttr each) { return each == axis; });
  return found == axes.end() ? std::nullopt : std::optional(unsigned(found - axes.begin()));
}

int64_t Mesh::ranksOf(ArrayRef<unsigned> of) const {
  return llvm::product_of(llvm::map_range(of, [&](unsigned axis) { return sizeOf(axis); }));
}

int64_t Mesh::numRanks() const { return llvm::product_of(sizes); }

int64_t Mesh::placeOf(int64_t rank, unsigned axis) const { return rank / steps[axisOf(axis)] % sizeOf(axis); }

unsigned Mesh::numberOf(Cut cut) const {
  if (cut.blocks.size() == 1) cut.blocks.clear();
  if (cut.weights.empty() && cut.isOfNeighbours()) return cut.axis;
  size_t at = size_t(llvm::find(cuts, cut) - cuts.begin());
  if (at == cuts.size()) cuts.push_back(std::move(cut));
  return numAxes() + unsigned(at);
}

Sharding Mesh::read(dist::ShardingAttr attribute, Type type) const {
  auto numbers = [&](ArrayAttr names) {
    Axes numbers;
    for (Attribute each : names) {
      auto axis = unsigned(llvm::find(axes, dist::axisOf(each)) - axes.begin());
      auto cut = dyn_cast<dist::CutAttr>(each);
      numbers.push_back(cut ? numberOf({axis, cut.getWeights().vec(), cut.getBlocks().vec(), cut.getUnit()}) : axis);
    }
    return numbers;
  };
  Sharding sharding;
  for (ArrayAttr names : attribute.getDims()) sharding.dims.push_back(numbers(names));
  sharding.partial = numbers(attribute.getPartial());
  llvm::sort(sharding.partial);
  sharding.reduction = attribute.getReduction();
  sharding.flat = numbers(attribute.getFlat());
  if (!sharding.flat.empty()) sharding.dims = Sharding::replicated(type).dims;
  return sharding;
}

ArrayAttr Mesh::namesOf(ArrayRef<unsigned> of) const {
  SmallVector<Attribute> names;
  for (unsigned axis : of) names.push_back(axes[axisOf(axis)]);
  return ArrayAttr::get(name.getContext(), names);
}

dist::ShardingAttr Mesh::write(const Sharding &sharding) const {
  auto attributeOf = [&](unsigned axis) -> Attribute {
    if (axis < numAxes()) return axes[axis];
    const Cut &cut = cuts[axis - numAxes()];
    return dist::CutAttr::get(name.getContext(), axes[cut.axis], cut.weights, cut.blocks, cut.unit);
  };
  SmallVector<ArrayAttr> dims;
  if (sharding.flat.empty())
    for (const Axes &each : sharding.dims)
      dims.push_back(ArrayAttr::get(name.getContext(), llvm::map_to_vector(each, attributeOf)));
  return dist::ShardingAttr::get(name.getContext(), name, dims, namesOf(sharding.flat), namesOf(sharding.partial),
                                 sharding.reduction);
}

SmallVector<rt::collective::Range, 1> Mesh::rangesOf(int64_t size, ArrayRef<unsigned> of, int64_t rank) const {
  SmallVector<rt::collective::Range, 1> ranges{{0, size}};
  for (unsigned axis : of) {
    Cut cut = cutOf(axis);
    int64_t first = ranges[0].begin;
    std::vector<int64_t> blocks = cut.blocksOf(ranges[0].size());
    ranges.clear();
    for (int64_t block : blocks) {
      auto own = rt::collective::shareOf(block, uint32_t(sizeOf(axis)), cut.weights, uint32_t(placeOf(rank, axis)));
      ranges.push_back({first + own.begin * cut.unit, first + own.end * cut.unit});
      first += block * cut.unit;
    }
  }
  return ranges;
}

SmallVector<int64_t> Mesh::positionsOf(int64_t size, ArrayRef<unsigned> of, int64_t rank) const {
  SmallVector<int64_t> positions;
  for (const rt::collective::Range &range : rangesOf(size, of, rank))
    llvm::append_range(positions, llvm::seq(range.begin, range.end));
  return positions;
}

int64_t Mesh::countOf(int64_t size, ArrayRef<unsigned> of, int64_t rank) const {
  return llvm::sum_of(
      llvm::map_range(rangesOf(size, of, rank), [](const rt::collective::Range &range) { return range.size(); }));
}

bool Mesh::isAlike(int64_t size, ArrayRef<unsigned> of) const {
  if (of.size() == 1 && of[0] < numAxes()) return size % sizeOf(of[0]) == 0;
  return of.empty() || llvm::all_of(llvm::seq<int64_t>(1, numRanks()),
                                    [&](int64_t rank) { return countOf(size, of, rank) == countOf(size, of, 0); });
}

rt::collective::Range Mesh::flatPieceOf(int64_t elements, ArrayRef<unsigned> of, int64_t rank) const {
  int64_t count = flatSizeOf(elements, of), place = 0;
  for (unsigned axis : of) place = place * sizeOf(axis) + placeOf(rank, axis);
  return {place * count, (place + 1) * count};
}

Type Mesh::localType(Type type, const Sharding &sharding, int64_t rank) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return type;
  if (!sharding.flat.empty()) return tensor.clone(flatSizeOf(tensor.getNumElements(), sharding.flat));
  SmallVector<int64_t> shape;
  for (auto [size, of] : llvm::zip_equal(tensor.getShape(), sharding.dims)) shape.push_back(countOf(size, of, rank));
  return tensor.clone(shape);
}

FailureOr<dist::MeshOp> findMesh(ModuleOp module) {
  dist::ShardingAttr first;
  Operation *other = nullptr;
  dist::ShardingAttr differs;
  auto take = [&](Operation *op, Attribute attribute) {
    auto sharding = dyn_cast_or_null<dist::ShardingAttr>(attribute);
    if (!sharding || other) return;
    if (!first) first = sharding;
    if (sharding.getMesh() != first.getMesh()) other = op, differs = sharding;
  };
  module.walk([&](Operation *op) {
    take(op, op->getAttr(dist::kShardingAttr));
    if (auto shardings = op->getAttrOfType<ArrayAttr>(dist::kShardingsAttr))
      for (Attribute each : shardings) take(op, each);
    if (auto shard = dyn_cast<dist::ShardOp>(op)) take(op, shard.getSharding());
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function) return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) take(op, function.getArgAttr(i, dist::kShardingAttr));
    for (unsigned i = 0; i < function.getNumResults(); ++i) take(op, function.getResultAttr(i, dist::kShardingAttr));
  });
  if (other)
    return other->emitError() << "a module has shardings on one mesh, found " << first.getMesh() << " and "
                              << differs.getMesh();
  if (!first) return dist::MeshOp();
  return SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(module, first.getMesh());
}

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() * storageBytes(tensor.getElementType()) : 0;
}

int64_t wholeBytesOf(Operation *collective) {
  auto bytes = [](ValueRange values) {
    return llvm::sum_of(llvm::map_range(values.getTypes(), [](Type type) { return bytesOf(type); }));
  };
  return std::max(bytes(collective->getOperands()), bytes(collective->getResults()));
}

} // namespace sprig::shard
