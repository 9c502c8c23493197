// What meshes, collectives and steps have to keep to.
#include "dialects/Dist/Dist.h"
#include "runtime/collective/Collective.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::ir::dist;

namespace {

constexpr int64_t kMostRanks = int64_t(1) << 20;

int64_t rowsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getDimSize(0);
}

// Whether bytes of it can be counted in 64 bits.
bool isCountable(Value value) {
  int64_t left = int64_t(1) << 56;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape()) {
    if (size > left) return false;
    if (size > 0) left /= size;
  }
  return true;
}

LogicalResult verifyReduction(Operation *op, Reduction reduction) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  if (reduction == Reduction::mean && !isa<FloatType>(element))
    return op->emitOpError() << "a mean is of floating-point elements, found " << element;
  if (reduction == Reduction::sum && element.isInteger(1))
    return op->emitOpError() << "i1 has no sum; max is 'or', min is 'and'";
  return success();
}

// The rank whose program an operation is in; null where the program is every rank's.
IntegerAttr rankOfFunction(Operation *op) {
  Operation *function = op->getParentOp();
  while (function && !function->hasAttr(kRankAttr)) function = function->getParentOp();
  return function ? function->getAttrOfType<IntegerAttr>(kRankAttr) : IntegerAttr();
}

// Of the function's rank in its group, where the function is one rank's.
std::optional<int64_t> placeInGroup(Operation *op, SymbolTableCollection &symbols) {
  IntegerAttr rank = rankOfFunction(op);
  CollectiveUse use = *collectiveUse(op);
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(op, use.mesh);
  if (!rank || rank.getInt() < 0 || rank.getInt() >= mesh.numRanks()) return std::nullopt;
  SmallVector<int64_t> group = mesh.groupOf(rank.getInt(), use.axes);
  return llvm::find(group, rank.getInt()) - group.begin();
}

LogicalResult verifyGroup(Operation *op, SymbolTableCollection &symbols, int64_t &size) {
  CollectiveUse use = *collectiveUse(op);
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(op, use.mesh);
  if (!mesh) return op->emitOpError() << "expected a dist.mesh, found '" << use.mesh.getValue() << "'";
  llvm::StringSet<> seen;
  size = 1;
  for (StringAttr axis : use.axes.getAsRange<StringAttr>()) {
    auto found = llvm::find(mesh.getAxes(), axis);
    if (found == mesh.getAxes().end())
      return op->emitOpError() << "expected an axis of " << use.mesh << " " << mesh.getAxes() << ", found " << axis;
    if (!seen.insert(axis).second) return op->emitOpError() << "axis " << axis << " is there twice";
    size *= mesh.getSizes()[size_t(found - mesh.getAxes().begin())];
  }
  if (use.algorithm) {
    rt::collective::Kind kind = kindOf(op);
    rt::collective::Algorithm algorithm;
    if (!rt::collective::findAlgorithm(use.algorithm.getValue(), algorithm) || !rt::collective::does(algorithm, kind))
      return op->emitOpError() << "expected an algorithm of " << rt::collective::nameOf(kind) << " ("
                               << rt::collective::algorithmsOf(kind) << "), found " << use.algorithm;
  }
  if (IntegerAttr rank = rankOfFunction(op); rank && rank.getInt() >= mesh.numRanks())
    return op->emitOpError() << "is in the program of rank " << rank.getInt() << ", and " << use.mesh << " has "
                             << mesh.numRanks();
  if (use.root < 0 || use.root >= size)
    return op->emitOpError() << "expected a root below " << size << ", the ranks of the group, found " << use.root;
  if (use.reduction) return verifyReduction(op, *use.reduction);
  return success();
}

// What a rank gets for its rows depends on its place, where they do not divide; so does what it gives back for them.
LogicalResult verifyExchange(Operation *op, int64_t size, std::optional<int64_t> place) {
  Value from = op->getOperand(0), to = op->getResult(0);
  auto ranks = uint32_t(size);
  bool isOneShape = to.getType() == withRows(from, rowsOf(to));
  auto fits = [&](int64_t at) { return rt::collective::exchanges(rowsOf(from), rowsOf(to), ranks, uint32_t(at)); };
  // Parts are of two sizes at most: the first rank's and the last's.
  if (isOneShape && (place ? fits(*place) : fits(0) || fits(size - 1))) return success();
  auto gets = [&](int64_t at) {
    return withRows(from, rt::collective::exchangedRows(rowsOf(from), ranks, uint32_t(at)));
  };
  InFlightDiagnostic error = op->emitOpError() << "expected " << gets(place.value_or(0));
  if (!place && rowsOf(from) % size) error << " or " << gets(size - 1);
  return error << " for " << from.getType() << " that " << size << " ranks exchange, or the way back, found "
               << to.getType();
}

// Whose part is larger by one depends on the rank, where rows do not divide.
LogicalResult verifyParts(Operation *op, SymbolTableCollection &symbols, int64_t size, Value whole, Value part) {
  if (!cast<RankedTensorType>(whole.getType()).getRank() || !cast<RankedTensorType>(part.getType()).getRank())
    return op->emitOpError() << "expected tensors with a first axis";
  std::optional<int64_t> place = placeInGroup(op, symbols);
  if (isa<AllToAllOp>(op)) return verifyExchange(op, size, place);
  int64_t rows = rowsOf(whole);
  bool isEven = rows % size == 0;
  RankedTensorType expected =
      withRows(whole, rt::collective::pieceOf(rows, uint32_t(size), uint32_t(place.value_or(size - 1))).size());
  RankedTensorType larger = withRows(whole, rows / size + 1);
  bool isAnyRank = !isEven && !place;
  if (part.getType() == expected || (isAnyRank && part.getType() == larger)) return success();
  InFlightDiagnostic error = op->emitOpError() << "expected a part " << expected;
  if (isAnyRank) error << " or " << larger;
  return error << " of " << whole.getType() << " over " << size << " ranks, found " << part.getType();
}

// Elements that a step may be about: where operand and result are apart those of the one or the other.
int64_t elementsFor(Operation *step) {
  auto steps = cast<StepsOp>(step->getParentOp());
  auto countOf = [](ValueRange values) {
    return values.empty() ? 0 : cast<ShapedType>(values[0].getType()).getNumElements();
  };
  int64_t from = countOf(steps.getOperands()), to = countOf(steps.getResults());
  if (!steps.getApart()) return std::max(from, to);
  return isa<SendOp>(step) ? from : to;
}

LogicalResult verifyStep(Operation *op, int64_t first, int64_t end, int64_t lane, std::optional<int64_t> peer) {
  auto steps = cast<StepsOp>(op->getParentOp());
  int64_t elements = elementsFor(op);
  if (first < 0 || end < first || end > elements)
    return op->emitOpError() << "expected elements of " << elements << ", found [" << first << ", " << end << ")";
  if (lane < 0 || lane > 255) return op->emitOpError() << "expected a lane from 0 to 255, found " << lane;
  if (peer && (*peer < 0 || *peer == int64_t(steps.getRank())))
    return op->emitOpError() << "expected another rank than " << steps.getRank() << ", found " << *peer;
  return success();
}

} // namespace

RankedTensorType sprig::ir::dist::withRows(Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = rows;
  return type.clone(shape);
}

LogicalResult sprig::ir::dist::verifyCollective(Operation *op, SymbolTableCollection &symbols) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      if (!isCountable(value)) return op->emitOpError() << "has more than 2^56 elements: " << value.getType();
  int64_t size = 1;
  if (failed(verifyGroup(op, symbols, size))) return failure();
  rt::collective::Form form = rt::collective::formOf(kindOf(op));
  if (form == rt::collective::Form::inPlace) return success();
  bool isWhole = form == rt::collective::Form::fromPart; // the result
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
    if (failed(verifyParts(op, symbols, size, isWhole ? result : operand, isWhole ? operand : result)))
      return failure();
  return success();
}

LogicalResult sprig::ir::dist::verifyEvenParts(Operation *op) {
  CollectiveUse use = *collectiveUse(op);
  if (rankOfFunction(op)) return success();
  auto ranks = int64_t(SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, use.mesh).groupOf(0, use.axes).size());
  rt::collective::Form form = rt::collective::formOf(kindOf(op));
  if (form == rt::collective::Form::inPlace) return success();
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    bool isWholeResult = form == rt::collective::Form::fromPart;
    Value whole = isWholeResult ? result : operand;
    if (rowsOf(whole) % ranks == 0) continue;
    return op->emitOpError() << "has " << rowsOf(whole) << " rows of " << whole.getType() << ", which " << ranks
                             << " ranks do not share evenly, in a function that is every rank's; 'dist.rank' on the "
                                "function says whose it is";
  }
  return success();
}

LogicalResult MeshOp::verify() {
  if (getAxes().size() != getSizes().size())
    return emitOpError() << "has " << getAxes().size() << " axes and " << getSizes().size() << " sizes";
  if (getAxes().empty()) return emitOpError() << "expected an axis";
  llvm::StringSet<> seen;
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip_equal(getAxes().getAsRange<StringAttr>(), getSizes())) {
    if (!seen.insert(axis).second) return emitOpError() << "axis " << axis << " is there twice";
    if (size < 1) return emitOpError() << "expected an axis of 1 or more ranks, found " << size << " of " << axis;
    if (size > kMostRanks / ranks) return emitOpError() << "has more than " << kMostRanks << " ranks";
    ranks *= size;
  }
  return success();
}

// Values that go together.
static LogicalResult verifyTogether(Operation *op) {
  if (op->getOperands().empty()) return op->emitOpError() << "expected a value";
  if (op->getNumOperands() != op->getNumResults())
    return op->emitOpError() << "has " << op->getNumOperands() << " operands and " << op->getNumResults() << " results";
  Type element = getElementTypeOrSelf(op->getOperand(0));
  for (Value value : op->getOperands())
    if (Type other = getElementTypeOrSelf(value); other != element)
      return op->emitOpError() << "expected values of one element type, found " << element << " and " << other;
  return success();
}
LogicalResult AllReduceOp::verify() { return verifyTogether(*this); }
LogicalResult ReduceScatterOp::verify() { return verifyTogether(*this); }
LogicalResult AllGatherOp::verify() { return verifyTogether(*this); }

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, op.getOperands().getTypes());
  return success();
}

LogicalResult ShardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getSharding().getPartial().empty()) return emitOpError() << "states a partial value, which no value can be made";
  return verifySharding(*this, symbols, getSharding(), getResult().getType(), "the result");
}

LogicalResult StepsOp::verify() {
  if (getOperands().size() != getResults().size() || getOperands().size() > 1)
    return emitOpError() << "expected one operand and one result, or neither";
  if (int64_t(getRank()) < 0) return emitOpError() << "expected a rank of 0 or more, found " << int64_t(getRank());
  for (Operation &step : getBody().front())
    if (!isa<SendOp, ReceiveOp, CombineOp, FinishOp, KeepOp>(step))
      return step.emitOpError() << "is no step of a collective";
  if (getOperands().empty()) {
    if (getAt() || getApart()) return emitOpError() << "has no operand that has a place or is apart";
    return success();
  }
  for (Value value : {getOperands()[0], Value(getResults()[0])})
    if (!isCountable(value)) return emitOpError() << "has more than 2^56 elements: " << value.getType();
  auto from = cast<RankedTensorType>(getOperands()[0].getType()),
       to = cast<RankedTensorType>(getResults()[0].getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "expected a result of " << from.getElementType() << ", found " << to.getElementType();
  bool combines = llvm::any_of(getBody().front(), [](Operation &step) { return isa<CombineOp, FinishOp>(step); });
  if (combines && failed(verifyReduction(*this, getReduction()))) return failure();
  int64_t smaller = std::min(from.getNumElements(), to.getNumElements()),
          larger = std::max(from.getNumElements(), to.getNumElements()), at = getAt();
  if (getApart() && at) return emitOpError() << "has an operand in a place of the result, and both apart";
  if (at < 0 || at > larger - smaller)
    return emitOpError() << "expected a place of " << smaller << " elements in " << larger << ", found " << at;
  return success();
}

LogicalResult SendOp::verify() { return verifyStep(*this, getFirst(), getEnd(), getLane(), getPeer()); }
LogicalResult ReceiveOp::verify() { return verifyStep(*this, getFirst(), getEnd(), getLane(), getPeer()); }
LogicalResult CombineOp::verify() { return verifyStep(*this, getFirst(), getEnd(), getLane(), getPeer()); }
LogicalResult FinishOp::verify() { return verifyStep(*this, getFirst(), getEnd(), getLane(), std::nullopt); }
LogicalResult KeepOp::verify() {
  auto steps = cast<StepsOp>((*this)->getParentOp());
  if (!steps.getApart()) return emitOpError() << "is for an operand and a result that are apart";
  if (failed(verifyStep(*this, getFirst(), getEnd(), getLane(), std::nullopt))) return failure();
  int64_t from = int64_t(getFrom().value_or(getFirst())), size = int64_t(getEnd()) - int64_t(getFirst()),
          elements = cast<ShapedType>(steps.getOperands()[0].getType()).getNumElements();
  if (from >= 0 && from <= elements - size) return success();
  return emitOpError() << "expected " << size << " of " << elements << " elements of the operand, found them from "
                       << from << " on";
}
