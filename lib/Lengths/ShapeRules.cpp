// Lengths of operations that move elements: what is valid stays at the beginning of its dimension.
#include "dialects/Interfaces/TensorTypes.h"
#include "lib/Lengths/LengthRules.h"

using namespace mlir;

namespace sprig {

static int64_t sizeOf(Value value, int64_t dim) { return ir::Expression::typeOf(value).getDimSize(dim); }

namespace {
/// Neighbouring dimensions of both sides of a reshape with the same elements at all lengths.
struct Group {
  int64_t fromBegin = 0, fromEnd = 0, toBegin = 0, toEnd = 0;
};
} // namespace

/// Cuts where the products of the sizes before are the same in all programs.
static FailureOr<SmallVector<Group>> groupsOf(const Programs &programs, ir::ReshapeOp op) {
  int64_t fromRank = tensorOf(op.getOperand()).getRank(), toRank = tensorOf(op.getResult()).getRank();
  SmallVector<Group> groups;
  auto product = [&](Value value, int64_t begin, int64_t end) {
    SmallVector<int64_t> sizes(programs.count(), 1);
    for (int64_t dim = begin; dim < end; ++dim)
      for (auto [all, size] : llvm::zip_equal(sizes, programs.sizes(value, dim))) all *= size;
    return sizes;
  };
  for (int64_t i = 0, j = 0; i < fromRank || j < toRank;) {
    bool isFound = false;
    // The shortest group: of few dimensions on either side together.
    for (int64_t count = 1; count <= fromRank - i + toRank - j && !isFound; ++count)
      for (int64_t taken = std::min(count, fromRank - i); taken >= std::max<int64_t>(0, count - (toRank - j)); --taken)
        if (product(op.getOperand(), i, i + taken) == product(op.getResult(), j, j + count - taken)) {
          groups.push_back({i, i + taken, j, j + count - taken});
          i += taken, j += count - taken;
          isFound = true;
          break;
        }
    if (!isFound) return failure();
  }
  return groups;
}

LogicalResult LengthRules::visitReshape(ir::ReshapeOp op) {
  Value from = op.getOperand(), to = op.getResult();
  Lengths found;
  for (int64_t size : ir::Expression::typeOf(to).getShape()) found.push_back(Length::fixed(size));
  FailureOr<SmallVector<Group>> groups = groupsOf(programs, op);
  if (failed(groups)) return refuse(op) << "its shapes do not belong together at all lengths";
  for (const Group &group : *groups) {
    SmallVector<int64_t> growing, becoming;
    for (int64_t dim = group.fromBegin; dim < group.fromEnd; ++dim)
      if (grows(from, dim)) growing.push_back(dim);
    for (int64_t dim = group.toBegin; dim < group.toEnd; ++dim)
      if (programs.varies(to, dim)) becoming.push_back(dim);
    if (growing.empty() && becoming.empty()) continue;
    if (growing.size() != 1 || becoming.size() != 1)
      return refuse(op) << "one dimension of its operand, and one of its result, may grow";
    auto product = [&](Value value, int64_t begin, int64_t end) {
      int64_t all = 1;
      for (int64_t dim = begin; dim < end; ++dim) all *= sizeOf(value, dim);
      return all;
    };
    int64_t before = product(from, group.fromBegin, growing[0]), after = product(from, growing[0] + 1, group.fromEnd);
    int64_t beforeTo = product(to, group.toBegin, becoming[0]), afterTo = product(to, becoming[0] + 1, group.toEnd);
    if (before != beforeTo)
      return refuse(op) << "the dimension that grows becomes one with another in front of it, so that what was given "
                           "does not come first";
    Length length = of(from)[size_t(growing[0])];
    if (after != afterTo) {
      std::optional<Length> scaled = length.divisor == 1 ? length.times(after).dividedBy(afterTo) : std::nullopt;
      if (!scaled) return refuse(op) << "the elements that grow do not divide into rows of its result";
      length = *scaled;
    }
    found[size_t(becoming[0])] = length;
  }
  return settle(to, std::move(found));
}

LogicalResult LengthRules::visitBroadcast(ir::BroadcastOp op) {
  Value from = op.getOperand(), to = op.getResult();
  Lengths found;
  int64_t added = tensorOf(to).getRank() - tensorOf(from).getRank();
  for (int64_t dim = 0; dim < tensorOf(to).getRank(); ++dim) {
    bool isOwn = dim >= added && (grows(from, dim - added) || sizeOf(from, dim - added) == sizeOf(to, dim));
    std::optional<Length> length = isOwn ? of(from)[size_t(dim - added)] : programs.lengthOf(programs.sizes(to, dim));
    if (!length) return refuse(op) << "dimension " << dim << " of its result is no multiple of the length and a rest";
    found.push_back(*length);
  }
  return settle(to, std::move(found));
}

// Where a slice begins at another place for each length, its elements are picked one by one.
LogicalResult LengthRules::visitSlice(ir::SliceOp op) {
  Lengths found;
  SmallVector<int64_t> starts(op.getStarts()), steps(op.getSteps());
  Value from = op.getOperand();
  for (int64_t dim = 0; dim < tensorOf(from).getRank(); ++dim) {
    SmallVector<int64_t> begins;
    for (Operation *each : programs.current()) begins.push_back(cast<ir::SliceOp>(each).getStarts()[size_t(dim)]);
    std::optional<Length> start = programs.lengthOf(begins);
    std::optional<Length> size = programs.lengthOf(programs.sizes(op.getResult(), dim));
    if (start && !size && begins.front() == 0 && llvm::all_equal(begins))
      size = of(op.getOperand())[size_t(dim)].everyNth(steps[size_t(dim)]);
    if (!start || !size)
      return refuse(op) << "where it begins, or how long it is, is no multiple of the length and a rest";
    found.push_back(*size);
    if (start->isFixed()) continue;
    OpBuilder builder(op);
    ir::Expression e(builder, op.getLoc());
    int64_t count = op.getSizes()[size_t(dim)], last = sizeOf(from, dim) - 1;
    Value index = Masks::places(e, count);
    if (steps[size_t(dim)] != 1) index = e.mul(index, Masks::integer(e, steps[size_t(dim)]));
    index = e.add(index, masks.number(e, *start));
    index = e.binary<ir::MaxOp>(e.binary<ir::MinOp>(index, Masks::integer(e, last)), Masks::integer(e, 0));
    from = ir::GatherOp::create(builder, op.getLoc(), from, index, dim);
    starts[size_t(dim)] = 0, steps[size_t(dim)] = 1;
  }
  if (from != op.getOperand()) {
    op.getOperandMutable().assign(from);
    op.setStarts(starts);
    op.setSteps(steps);
  }
  return settle(op.getResult(), std::move(found));
}

// Parts lie behind one another where arrays end; those behind one that grows move to where it ends.
LogicalResult LengthRules::visitConcat(ir::ConcatOp op) {
  int64_t axis = int64_t(op.getAxis());
  SmallVector<Place> done;
  Length end = Length::fixed(0);
  SmallVector<std::pair<Length, int64_t>> begins; // of each part, and where it lies
  int64_t lies = 0;
  bool moves = false;
  for (auto [i, part] : llvm::enumerate(op.getOperands())) {
    moves |= !end.isFixed();
    begins.push_back({end, lies});
    const Length &length = of(part)[size_t(axis)];
    std::optional<Length> sum = end.plus(length);
    if (!sum)
      return refuse(op) << "parts of " << end.text() << " and " << length.text() << " elements are put together";
    end = *sum;
    lies += sizeOf(part, axis);
    done.push_back({unsigned(i), axis});
  }
  Value result = op.getResult();
  if (failed(followRule(op, done, {{0, axis, end}}))) return failure();
  if (!moves) return success();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  ir::Expression e(builder, op.getLoc());
  Value places = Masks::places(e, lies), shift = Masks::integer(e, 0);
  for (auto &[begin, at] : llvm::drop_begin(begins)) {
    Value first = masks.number(e, begin);
    shift = e.select(e.compare(ir::ComparePredicate::ge, places, first), e.sub(Masks::integer(e, at), first), shift);
  }
  Value index = e.binary<ir::MinOp>(e.add(places, shift), Masks::integer(e, lies - 1));
  auto moved = ir::GatherOp::create(builder, op.getLoc(), result, index, axis);
  programs.replace(result, moved.getResult(), moved);
  lengths[moved.getResult()] = Lengths(of(result));
  return success();
}

LogicalResult LengthRules::visitPad(ir::PadOp op) {
  Value from = op.getOperand();
  SmallVector<Place> padded;
  SmallVector<ResultLength> becomes;
  for (int64_t dim = 0; dim < tensorOf(from).getRank(); ++dim) {
    int64_t low = op.getLow()[size_t(dim)], high = op.getHigh()[size_t(dim)];
    if (!grows(from, dim) || (low == 0 && high == 0)) continue;
    if (op.getMode() == ir::PadMode::wrap || (high && op.getMode() != ir::PadMode::constant))
      return refuse(op) << "it repeats elements at an end that moves";
    padded.push_back({0, dim});
    becomes.push_back({0, dim, of(from)[size_t(dim)].plus(low + high)});
  }
  if (failed(followRule(op, padded, becomes))) return failure();
  OpBuilder builder(op);
  ir::Expression e(builder, op.getLoc());
  for (Place place : padded) {
    if (op.getHigh()[size_t(place.dim)] == 0) continue;
    Value masked = masks.mask(e, op.getOperand(), place.dim, of(from)[size_t(place.dim)], e.reshape(op.getValue(), {}));
    lengths[masked] = Lengths(of(from));
    op.getOperandMutable().assign(masked);
  }
  return success();
}

/// An index as it is where it lies below a length, else one that is out of range: for the error.
static Value refusedBehind(ir::Expression &e, Value index, Value length, int64_t outside) {
  Value isThere = e.compare(ir::ComparePredicate::lt, index, length);
  Value isBelow = e.compare(ir::ComparePredicate::lt, index, Masks::integer(e, 0));
  return e.select(isBelow, Masks::integer(e, outside), e.select(isThere, index, Masks::integer(e, outside)));
}

// Where there are as many classes as elements of what grows.
LogicalResult LengthRules::visitClassIndex(ir::ClassIndexOp op) {
  SmallVector<int64_t> classes;
  for (Operation *each : programs.current()) classes.push_back(int64_t(cast<ir::ClassIndexOp>(each).getClasses()));
  std::optional<Length> count = programs.lengthOf(classes);
  if (!count) return refuse(op) << "how many classes there are is no multiple of the length and a rest";
  if (count->isFixed()) guardIndices(op);
  if (failed(followRule(op))) return failure();
  if (count->isFixed()) return success();
  OpBuilder builder(op);
  ir::Expression e(builder, op.getLoc());
  Type element = op.getOperand().getType().getElementType();
  Value index = e.cast(op.getOperand(), builder.getI64Type());
  index = e.cast(refusedBehind(e, index, masks.number(e, *count), int64_t(op.getClasses())), element);
  lengths[index] = Lengths(of(op.getOperand()));
  op.getOperandMutable().assign(index);
  maskAll(op, 0, Neutral::zero);
  return success();
}

// Indices count from an end that moves, and may not be behind it.
void LengthRules::countFromEnd(Operation *op, Length length, int64_t outside) {
  OpBuilder builder(op);
  ir::Expression e(builder, op->getLoc());
  Value index = e.cast(op->getOperand(1), builder.getI64Type()), end = masks.number(e, length);
  Value isNegative = e.compare(ir::ComparePredicate::lt, index, Masks::integer(e, 0));
  index = refusedBehind(e, e.select(isNegative, e.add(index, end), index), end, outside);
  lengths[index] = Lengths(of(op->getOperand(1)));
  bool isZeroBehind = isa<BlockArgument>(op->getOperand(1)) && length.at(programs.first()) > 0;
  op->setOperand(1, index);
  if (!isZeroBehind) maskAll(op, 1, Neutral::zero);
}

LogicalResult LengthRules::visitGather(ir::GatherOp op) {
  int64_t axis = int64_t(op.getAxis());
  if (!grows(op.getOperand(), axis)) return followRule(op);
  if (failed(followRule(op, {{0, axis}}))) return failure();
  countFromEnd(op, of(op.getOperand())[size_t(axis)], sizeOf(op.getOperand(), axis));
  return success();
}

LogicalResult LengthRules::visitGatherElements(ir::GatherElementsOp op) {
  int64_t axis = int64_t(op.getAxis());
  Length length = of(op.getOperand())[size_t(axis)];
  if (failed(followRule(op, {{0, axis}, {1, axis}}, {{0, axis, of(op.getIndices())[size_t(axis)]}}))) return failure();
  if (!length.isFixed()) countFromEnd(op, length, sizeOf(op.getOperand(), axis));
  return success();
}

} // namespace sprig
