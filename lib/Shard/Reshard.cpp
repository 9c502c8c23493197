#include "lib/Shard/Reshard.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include <utility>

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

bool isZero(Value value) {
  DenseElementsAttr splat = ir::splatOf(value);
  return splat && ir::ConstantView(splat).asDouble(0) == 0;
}

ElementsAttr partOf(const Mesh &mesh, ElementsAttr value, const Sharding &sharding, int64_t rank) {
  ir::ConstantView view(value);
  SmallVector<SmallVector<int64_t>> positions;
  for (auto [size, axes] : llvm::zip_equal(view.type().getShape(), sharding.dims))
    positions.push_back(mesh.positionsOf(size, axes, rank));
  SmallVector<int64_t> shape;
  for (const auto &own : positions) shape.push_back(int64_t(own.size()));
  RankedTensorType type = view.type().clone(shape);
  if (view.isSplat()) return ir::makeConstant(type, view.bytes());
  if (type == view.type()) return value;
  std::vector<char> bytes;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t from = 0, left = i, step = 1;
    for (size_t dim = shape.size(); dim-- > 0; left /= shape[dim]) {
      from += positions[dim][size_t(left % shape[dim])] * step;
      step *= view.type().getDimSize(int64_t(dim));
    }
    llvm::append_range(bytes, view.element(from));
  }
  return ir::makeConstant(type, std::move(bytes));
}

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

Value Resharder::rowsOf(Location loc, Value value, rt::collective::Range rows, unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> sizes(type.getShape()), starts(sizes.size(), 0), steps(sizes.size(), 1);
  starts[dim] = rows.begin, sizes[dim] = rows.size();
  if (DenseElementsAttr splat = ir::splatOf(value))
    return ir::ConstantOp::create(b, loc, ir::makeConstant(type.clone(sizes), ir::ConstantView(splat).bytes()));
  return ir::SliceOp::create(b, loc, value, starts, sizes, steps);
}

Value Resharder::allGather(Location loc, Value part, int64_t rows, ArrayRef<unsigned> axes) {
  return dist::AllGatherOp::create(b, loc, dist::withRows(part, rows), part, mesh.symbol(), mesh.namesOf(axes),
                                   StringAttr())
      .getResult(0);
}

Value Resharder::reduceScatter(Location loc, Value whole, int64_t rows, dist::Reduction reduction,
                               ArrayRef<unsigned> axes) {
  return dist::ReduceScatterOp::create(b, loc, dist::withRows(whole, rows), whole,
                                       dist::ReductionAttr::get(b.getContext(), reduction), mesh.symbol(),
                                       mesh.namesOf(axes), StringAttr())
      .getResult(0);
}

Value Resharder::ownPart(Location loc, Value whole, int64_t rows, ArrayRef<unsigned> axes) {
  return dist::PartOp::create(b, loc, dist::withRows(whole, rows), whole, mesh.symbol(), mesh.namesOf(axes),
                              StringAttr());
}

Value Resharder::joined(Location loc, ArrayRef<Value> parts, unsigned dim) {
  return parts.size() == 1 ? parts[0] : Value(ir::ConcatOp::create(b, loc, ValueRange(parts), int64_t(dim)));
}

// Zeros behind the last row.
Value Resharder::padded(Location loc, Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = ir::createSplat(b, loc, RankedTensorType::get({}, type.getElementType()), 0);
  SmallVector<int64_t> low(size_t(type.getRank()), 0), high = low;
  high[0] = rows - type.getDimSize(0);
  return ir::PadOp::create(b, loc, ir::PadMode::constant, value, zero, low, high);
}

// Out of partial values: axes that a dimension is to be split by next go by reduce_scatter, first, as what is left is
// smaller; the others together.
void Resharder::reducePartial(Move &move, const Sharding &to) {
  Axes left;
  for (unsigned axis : move.now.partial)
    if (!llvm::is_contained(to.partial, axis)) left.push_back(axis);
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (size_t dim = 0; dim < move.now.dims.size(); ++dim) {
      std::optional<unsigned> axis = nextAxis(move.now, to, dim);
      if (!axis || !mesh.isEven(*axis) || !llvm::is_contained(left, *axis)) continue;
      Value front = transposed(move.loc, move.value, unsigned(dim), 0);
      int64_t rows = mesh.countOf(move.type().getDimSize(int64_t(dim)), *axis, rank);
      Value part = reduceScatter(move.loc, front, rows, move.now.reduction, *axis);
      move.value = transposed(move.loc, part, 0, unsigned(dim));
      move.now.dims[dim].push_back(*axis);
      llvm::erase(left, *axis);
      hasChanged = true;
    }
  }
  auto reduction = dist::ReductionAttr::get(b.getContext(), move.now.reduction);
  if (!left.empty())
    move.value = dist::AllReduceOp::create(b, move.loc, ValueRange{move.value}, reduction, mesh.symbol(),
                                           mesh.namesOf(left), StringAttr())
                     .getResult(0);
  move.now.partial = to.partial;
  move.now.reduction = to.reduction;
}

// A whole value is a term of a sum over ranks that only the first one has; zeros are on any.
void Resharder::addOnce(Move &move, const Sharding &from, Value given) {
  auto isFirst = [&](unsigned axis) { return llvm::is_contained(from.partial, axis) || mesh.placeOf(rank, axis) == 0; };
  if (isZero(move.value) || llvm::all_of(move.now.partial, isFirst)) return;
  Value zero = ir::createSplat(b, move.loc, move.type(), 0);
  // All ranks take part in the collectives that have made the value.
  bool isMoved = move.value.getDefiningOp() && move.value != given;
  move.value = isMoved ? ir::AfterOp::create(b, move.loc, zero, move.value).getResult() : zero;
}

void Resharder::slice(Move &move, unsigned dim, unsigned axis) {
  SmallVector<Value> parts;
  if (together && !move.value.getDefiningOp<ir::ConstantOp>())
    partBlocks(move, dim, axis, parts);
  else
    for (const rt::collective::Range &rows : mesh.rangesOf(move.shape()[dim], axis, rank))
      parts.push_back(rowsOf(move.loc, move.value, rows, dim));
  move.value = joined(move.loc, parts, dim);
  move.now.dims[dim].push_back(axis);
}

// The part of each block.
void Resharder::partBlocks(Move &move, unsigned dim, unsigned axis, SmallVectorImpl<Value> &parts) {
  Cut cut = mesh.cutOf(axis);
  int64_t first = 0, size = move.shape()[dim];
  for (int64_t block : cut.blocksOf(size)) {
    int64_t rows = block * cut.unit;
    Value whole = rows == size ? move.value : rowsOf(move.loc, move.value, {first, first + rows}, dim);
    Value part = ownPart(move.loc, transposed(move.loc, whole, dim, 0), rows / mesh.sizeOf(axis), axis);
    parts.push_back(transposed(move.loc, part, 0, dim));
    first += rows;
  }
}

// Splits by axes that nothing is split by cost nothing and leave less to move.
bool Resharder::splitFree(Move &move, const Sharding &to) {
  for (size_t dim = 0; dim < move.now.dims.size(); ++dim)
    if (auto axis = nextAxis(move.now, to, dim); axis && !mesh.splits(move.now, *axis)) {
      slice(move, unsigned(dim), *axis);
      return true;
    }
  return false;
}

// Ranks give as many rows as the one that has most; what all have is taken from these in the order of the whole.
Value Resharder::gatherCut(Location loc, Value front, int64_t rows, unsigned axis) {
  struct Piece {
    rt::collective::Range of, at; // in the whole, in what is gathered
  };
  SmallVector<Piece> pieces;
  int64_t ranks = mesh.sizeOf(axis), most = 0;
  auto ownRows = [&](int64_t place) { return mesh.rangesOf(rows, axis, mesh.rankAt(rank, axis, place)); };
  for (int64_t place = 0; place < ranks; ++place)
    most = std::max(most, mesh.countOf(rows, axis, mesh.rankAt(rank, axis, place)));
  for (int64_t place = 0; place < ranks; ++place) {
    int64_t at = place * most;
    for (const rt::collective::Range &own : ownRows(place)) {
      if (own.size()) pieces.push_back({own, {at, at + own.size()}});
      at += own.size();
    }
  }
  llvm::sort(pieces, [](const Piece &a, const Piece &b) { return a.of.begin < b.of.begin; });
  Value all = allGather(loc, padded(loc, front, most), ranks * most, axis);
  SmallVector<Value> parts;
  for (const Piece &piece : pieces) parts.push_back(rowsOf(loc, all, piece.at));
  return parts.empty() ? all : joined(loc, parts, 0);
}

void Resharder::gather(Move &move, unsigned dim) {
  unsigned axis = move.now.dims[dim].pop_back_val();
  Value front = transposed(move.loc, move.value, dim, 0);
  int64_t rows = mesh.countOf(move.whole.getDimSize(dim), move.now.dims[dim], rank);
  Value all = mesh.isEven(axis) ? allGather(move.loc, front, rows, axis) : gatherCut(move.loc, front, rows, axis);
  move.value = transposed(move.loc, all, 0, dim);
}

// The vector of all elements, as long as ranks share it evenly.
Value Resharder::flatOf(Move &move, ArrayRef<unsigned> axes) {
  int64_t elements = move.type().getNumElements();
  Value vector = move.type().getRank() == 1 ? move.value : reshaped(move.loc, move.value, {elements});
  int64_t rows = mesh.flatSizeOf(elements, axes) * mesh.ranksOf(axes);
  return rows == elements ? vector : padded(move.loc, vector, rows);
}

void Resharder::unflatten(Move &move) {
  Axes axes = std::exchange(move.now.flat, {});
  int64_t rows = move.type().getDimSize(0) * mesh.ranksOf(axes), elements = move.whole.getNumElements();
  Value all = allGather(move.loc, move.value, rows, axes);
  move.value = rows == elements ? all : rowsOf(move.loc, all, {0, elements});
  if (move.whole.getRank() != 1) move.value = reshaped(move.loc, move.value, move.whole.getShape());
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
    if (!mesh.isEven(move.now.dims[dim]) || !mesh.isEven(axis)) return false;
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
  if (from.flat == to.flat && !to.flat.empty()) return value;
  if (!from.flat.empty()) unflatten(move);
  if (to.flat.empty()) {
    reducePartial(move, to);
    while (splitFree(move, to) || shorten(move, to)) {
    }
    addOnce(move, from, value);
    return move.value;
  }
  // A sum goes to the ranks that have the pieces; what else there is becomes whole first.
  bool isScattered = from.reduction == dist::Reduction::sum && ArrayRef(from.partial) == ArrayRef(to.flat) &&
                     !Sharding{from.dims, {}}.isSplit();
  if (!isScattered) move.value = reshard(loc, move.value, whole, move.now, Sharding::replicated(whole));
  Value vector = flatOf(move, to.flat);
  int64_t rows = mesh.flatSizeOf(whole.getNumElements(), to.flat);
  return isScattered ? reduceScatter(loc, vector, rows, dist::Reduction::sum, to.flat)
                     : ownPart(loc, vector, rows, to.flat);
}

} // namespace sprig::shard
