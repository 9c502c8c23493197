#include "lib/Shard/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

Sharding Sharding::replicated(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return {SmallVector<Axes>(tensor ? size_t(tensor.getRank()) : 0), {}};
}

Mesh::Mesh(dist::MeshOp op)
    : name(FlatSymbolRefAttr::get(op.getSymNameAttr())), axes(op.getAxes().getAsRange<StringAttr>()),
      sizes(op.getSizes()), steps(sizes.size()) {
  int64_t step = 1;
  for (size_t axis = sizes.size(); axis-- > 0; step *= sizes[axis]) steps[axis] = step;
}

int64_t Mesh::ranksOf(ArrayRef<unsigned> of) const {
  int64_t count = 1;
  for (unsigned axis : of) count *= sizes[axis];
  return count;
}

int64_t Mesh::numRanks() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

int64_t Mesh::placeOf(int64_t rank, unsigned axis) const { return rank / steps[axis] % sizes[axis]; }

Sharding Mesh::read(dist::ShardingAttr attribute) const {
  auto numbers = [&](ArrayAttr names) {
    Axes numbers;
    for (StringAttr each : names.getAsRange<StringAttr>())
      numbers.push_back(unsigned(llvm::find(axes, each) - axes.begin()));
    return numbers;
  };
  Sharding sharding;
  for (ArrayAttr names : attribute.getDims()) sharding.dims.push_back(numbers(names));
  sharding.partial = numbers(attribute.getPartial());
  llvm::sort(sharding.partial);
  sharding.reduction = attribute.getReduction();
  return sharding;
}

ArrayAttr Mesh::namesOf(ArrayRef<unsigned> of) const {
  SmallVector<Attribute> names;
  for (unsigned axis : of) names.push_back(axes[axis]);
  return ArrayAttr::get(name.getContext(), names);
}

dist::ShardingAttr Mesh::write(const Sharding &sharding) const {
  SmallVector<ArrayAttr> dims;
  for (const Axes &each : sharding.dims) dims.push_back(namesOf(each));
  return dist::ShardingAttr::get(name.getContext(), name, dims, namesOf(sharding.partial), sharding.reduction);
}

rt::collective::Range Mesh::pieceOf(int64_t size, ArrayRef<unsigned> of, int64_t rank) const {
  rt::collective::Range range{0, size};
  for (unsigned axis : of) {
    auto inner = rt::collective::pieceOf(range.size(), uint32_t(sizes[axis]), uint32_t(placeOf(rank, axis)));
    range = {range.begin + inner.begin, range.begin + inner.end};
  }
  return range;
}

Type Mesh::localType(Type type, const Sharding &sharding, int64_t rank) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return type;
  SmallVector<int64_t> shape;
  for (auto [size, of] : llvm::zip_equal(tensor.getShape(), sharding.dims))
    shape.push_back(pieceOf(size, of, rank).size());
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

int64_t bytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

} // namespace sprig::shard
