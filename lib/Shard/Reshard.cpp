#include "lib/Shard/Reshard.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

struct Resharder::Move {
  Location loc;
  Value value;
  RankedTensorType whole;
  Sharding now;

  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  SmallVector<int64_t> shape() const { return SmallVector<int64_t>(type().getShape()); }
};

// What is to stand behind the axes that a dimension has; none where it has others.
static std::optional<unsigned> nextAxis(const Sharding &now, const Sharding &to, size_t dim) {
  if (!isPrefix(now.dims[dim], to.dims[dim]) || now.dims[dim].size() == to.dims[dim].size()) return std::nullopt;
  return to.dims[dim][now.dims[dim].size()];
}

// The dimension `from` becomes dimension `to`, the others stay in order.
Value Resharder::transposed(Location loc, Value value, unsigned from, unsigned to) {
  if (from == to) return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != int64_t(from)) order.push_back(dim);
  order.insert(order.begin() + to, int64_t(from));
  return ir::TransposeOp::create(b, loc, value, order);
}

Value Resharder::reshaped(Location loc, Value value, ArrayRef<int64_t> shape) {
  return ir::ReshapeOp::create(b, loc, cast<RankedTensorType>(value.getType()).clone(shape), value);
}

// Out of partial values: axes that a dimension is to be split by next go by reduce_scatter, first, as what is left is
// smaller; the others together.
void Resharder::reducePartial(Move &move, const Sharding &to) {
  auto reduction = dist::ReductionAttr::get(b.getContext(), move.now.reduction);
  Axes left;
  for (unsigned axis : move.now.partial)
    if (!llvm::is_contained(to.partial, axis)) left.push_back(axis);
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (size_t dim = 0; dim < move.now.dims.size(); ++dim) {
      std::optional<unsigned> axis = nextAxis(move.now, to, dim);
      if (!axis || !llvm::is_contained(left, *axis)) continue;
      Value front = transposed(move.loc, move.value, unsigned(dim), 0);
      SmallVector<int64_t> shape(cast<RankedTensorType>(front.getType()).getShape());
      shape[0] = mesh.pieceOf(shape[0], *axis, rank).size();
      Value part = dist::ReduceScatterOp::create(b, move.loc, move.type().clone(shape), front, reduction, mesh.symbol(),
                                                 mesh.namesOf(*axis), StringAttr())
                       .getResult(0);
      move.value = transposed(move.loc, part, 0, unsigned(dim));
      move.now.dims[dim].push_back(*axis);
      llvm::erase(left, *axis);
      hasChanged = true;
    }
  }
  if (!left.empty())
    move.value = dist::AllReduceOp::create(b, move.loc, ValueRange{move.value}, reduction, mesh.symbol(),
                                           mesh.namesOf(left), StringAttr())
                     .getResult(0);
  move.now.partial = to.partial;
  move.now.reduction = to.reduction;
}

void Resharder::slice(Move &move, unsigned dim, unsigned axis) {
  SmallVector<int64_t> sizes = move.shape(), starts(sizes.size(), 0), steps(sizes.size(), 1);
  rt::collective::Range piece = mesh.pieceOf(sizes[dim], axis, rank);
  starts[dim] = piece.begin, sizes[dim] = piece.size();
  move.value = ir::SliceOp::create(b, move.loc, move.value, starts, sizes, steps);
  move.now.dims[dim].push_back(axis);
}

// Splits by axes that nothing is split by cost nothing and leave less to move.
bool Resharder::splitFree(Move &move, const Sharding &to) {
  for (size_t dim = 0; dim < move.now.dims.size(); ++dim)
    if (auto axis = nextAxis(move.now, to, dim); axis && !move.now.splits(*axis)) {
      slice(move, unsigned(dim), *axis);
      return true;
    }
  return false;
}

void Resharder::gather(Move &move, unsigned dim) {
  unsigned axis = move.now.dims[dim].pop_back_val();
  Value front = transposed(move.loc, move.value, dim, 0);
  SmallVector<int64_t> shape(cast<RankedTensorType>(front.getType()).getShape());
  shape[0] = mesh.pieceOf(move.whole.getDimSize(dim), move.now.dims[dim], rank).size();
  Value all = dist::AllGatherOp::create(b, move.loc, move.type().clone(shape), front, mesh.symbol(), mesh.namesOf(axis),
                                        StringAttr())
                  .getResult(0);
  move.value = transposed(move.loc, all, 0, dim);
}

// An axis goes from the end of one dimension's to the end of another's: parts i of the latter go to rank i, and come
// one behind the other in the former.
void Resharder::exchange(Move &move, unsigned from, unsigned to) {
  unsigned axis = move.now.dims[from].pop_back_val();
  int64_t ranks = mesh.sizeOf(axis);
  SmallVector<int64_t> parts = move.shape();
  parts[to] /= ranks;
  parts.insert(parts.begin() + to, ranks);
  Value front = transposed(move.loc, reshaped(move.loc, move.value, parts), to, 0);
  Value moved =
      dist::AllToAllOp::create(b, move.loc, front.getType(), front, mesh.symbol(), mesh.namesOf(axis), StringAttr());
  SmallVector<int64_t> shape = move.shape();
  shape[to] /= ranks, shape[from] *= ranks;
  move.value = reshaped(move.loc, transposed(move.loc, moved, 0, from), shape);
  move.now.dims[to].push_back(axis);
}

// The last axis of a dimension that is to have others. Parts are of one size for all ranks where all is even, which is
// what an all_to_all asks for.
bool Resharder::shorten(Move &move, const Sharding &to) {
  auto isEven = [&](size_t dim, unsigned axis) {
    bool isThere = llvm::is_contained(move.now.dims[dim], axis);
    int64_t ranks = mesh.ranksOf(move.now.dims[dim]) * (isThere ? 1 : mesh.sizeOf(axis));
    return move.whole.getDimSize(int64_t(dim)) % ranks == 0;
  };
  for (size_t dim = move.now.dims.size(); dim-- > 0;) {
    if (isPrefix(move.now.dims[dim], to.dims[dim])) continue;
    unsigned axis = move.now.dims[dim].back();
    for (size_t other = 0; other < move.now.dims.size(); ++other)
      if (other != dim && nextAxis(move.now, to, other) == axis && isEven(dim, axis) && isEven(other, axis)) {
        exchange(move, unsigned(dim), unsigned(other));
        return true;
      }
    gather(move, unsigned(dim));
    return true;
  }
  return false;
}

Value Resharder::reshard(Location loc, Value value, RankedTensorType whole, const Sharding &from, const Sharding &to) {
  Move move{loc, value, whole, from};
  reducePartial(move, to);
  while (splitFree(move, to) || shorten(move, to)) {
  }
  return move.value;
}

} // namespace sprig::shard
