// Commands of ranks: what they have to keep to, what they touch.
#include "dialects/Exec/Exec.h"
#include "runtime/collective/AxisGroup.h"
#include "runtime/collective/Collective.h"

using namespace mlir;
using namespace sprig::exec;
using sprig::rt::collective::exchangedRows;
using sprig::rt::collective::exchanges;
using sprig::rt::collective::Form;
using sprig::rt::collective::Kind;
using sprig::rt::collective::pieceOf;

static_assert(int(CollectiveKind::part) == int(Kind::part) && int(CollectiveKind::all_to_all) == int(Kind::allToAll) &&
              int(CollectiveKind::all_gather) == int(Kind::allGather));

static Kind kindOf(CollectiveOp op) { return Kind(op.getKind()); }
static Form formOf(CollectiveOp op) { return sprig::rt::collective::formOf(kindOf(op)); }
static bool isWholeWritten(CollectiveOp op) { return formOf(op) == Form::fromPart || formOf(op) == Form::apart; }

Value CollectiveOp::wholeOf(unsigned tensor) {
  return isWholeWritten(*this) ? getTargets()[tensor] : getBuffers()[tensor];
}

Value CollectiveOp::otherOf(unsigned tensor) {
  if (formOf(*this) == Form::inPlace) return {};
  return isWholeWritten(*this) ? getBuffers()[tensor] : getTargets()[tensor];
}

SmallVector<int> CollectiveOp::group() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  int rank = int(program.getRank().value_or(0)), ranks = int(program.getRanks().value_or(1));
  if (!getOver()) return llvm::to_vector(llvm::seq(0, ranks));
  SmallVector<uint32_t> axes = *program.findAxes(*getOver());
  return llvm::to_vector(sprig::rt::collective::groupOf(*program.getMeshSizes(), axes, rank));
}

// That `group` finds one of two ranks at least.
static LogicalResult verifyAxes(CollectiveOp op, ProgramOp program) {
  if (!op.getOver()) return success();
  ArrayAttr over = *op.getOver();
  if (!program.getMeshAxes()) return op.emitOpError("is over ") << over << " in a program without a mesh";
  for (Attribute name : over) {
    if (!llvm::is_contained(*program.getMeshAxes(), name))
      return op.emitOpError("expected an axis of ") << *program.getMeshAxes() << ", found " << name;
    if (llvm::count(over, name) > 1) return op.emitOpError("names the axis ") << name << " twice";
  }
  if (op.group().size() < 2) return op.emitOpError("is over ") << over << ", along which there is one rank";
  return success();
}

static LogicalResult verifyReduction(CollectiveOp op, Type element) {
  StringRef kind = stringifyCollectiveKind(op.getKind());
  bool reduces = op.getKind() == CollectiveKind::all_reduce || op.getKind() == CollectiveKind::reduce_scatter ||
                 op.getKind() == CollectiveKind::reduce;
  if (reduces != op.getReduction().has_value())
    return op.emitOpError() << kind << (reduces ? " without a reduction" : " with a reduction");
  if (reduces && *op.getReduction() == Reduction::mean && !isa<FloatType>(element))
    return op.emitOpError("has a mean of ") << element << ", expected floats";
  return success();
}

static LogicalResult verifyNumbers(CollectiveOp op, int64_t ranks) {
  StringRef kind = stringifyCollectiveKind(op.getKind());
  bool isRooted = sprig::rt::collective::isRooted(kindOf(op));
  if (isRooted != op.getRoot().has_value())
    return op.emitOpError() << kind << (isRooted ? " without a root" : " with a root");
  if (isRooted && (int64_t(*op.getRoot()) < 0 || int64_t(*op.getRoot()) >= ranks))
    return op.emitOpError("has root ") << int64_t(*op.getRoot()) << " of " << ranks << " ranks";
  size_t targets = formOf(op) == Form::inPlace ? 0 : op.getBuffers().size();
  if (op.getTargets().size() != targets)
    return op.emitOpError() << kind << " of " << op.getBuffers().size() << " buffers to " << op.getTargets().size()
                            << ", expected " << targets;
  if (op.getBuffers().empty() != (op.getKind() == CollectiveKind::barrier))
    return op.emitOpError() << kind << " of " << op.getBuffers().size() << " buffers";
  if (op.getUnits() && op.getUnits()->size() != op.countTensors())
    return op.emitOpError("has ") << op.getUnits()->size() << " units for " << op.countTensors() << " tensors";
  return success();
}

// The parts of a tensor: rows of so many elements. `rank`: the program's in the group.
static LogicalResult verifyParts(CollectiveOp op, unsigned tensor, int64_t ranks, std::optional<int64_t> rank) {
  auto whole = cast<MemRefType>(op.wholeOf(tensor).getType());
  int64_t elements = whole.getNumElements(), unit = op.getUnits() ? (*op.getUnits())[tensor] : 1;
  if (unit < 1 || elements % unit)
    return op.emitOpError("has ") << elements << " elements of " << describe(whole) << " in rows of " << unit;
  if (formOf(op) == Form::inPlace) return success();
  int64_t rows = elements / unit;
  if (rows % ranks && !rank)
    return op.emitOpError("has ") << rows << " rows of " << describe(whole) << ", which " << ranks
                                  << " ranks do not share evenly, in a program that is not one rank's";
  auto other = cast<MemRefType>(op.otherOf(tensor).getType());
  auto count = uint32_t(ranks), place = uint32_t(rank.value_or(0));
  int64_t beside = other.getNumElements(), expected = pieceOf(rows, count, place).size() * unit;
  if (kindOf(op) == Kind::allToAll) {
    expected = elements;
    if (rank && beside % unit == 0 && exchanges(beside / unit, rows, count, place)) return success();
    if (rank)
      return op.emitOpError("has ") << describe(other) << " in rows of " << unit << ", for which rank " << place
                                    << " of " << ranks << " gets " << exchangedRows(beside / unit, count, place) * unit
                                    << " elements, found " << describe(whole);
  }
  if (beside == expected) return success();
  return op.emitOpError("has ") << describe(other) << " beside " << describe(whole) << ", expected " << expected
                                << " elements";
}

LogicalResult CollectiveOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (int64_t(program.getRanks().value_or(1)) < 2) return emitOpError("is in a program of one rank");
  if (failed(verifyAxes(*this, program))) return failure();
  SmallVector<int> met = group();
  auto ranks = int64_t(met.size());
  if (failed(verifyNumbers(*this, ranks))) return failure();
  if (getBuffers().empty()) return verifyReduction(*this, {});
  Type element = cast<MemRefType>(getBuffers().front().getType()).getElementType();
  for (Value buffer : getOperands()) {
    if (Type other = cast<MemRefType>(buffer.getType()).getElementType(); other != element)
      return emitOpError("has buffers of ") << element << " and of " << other << ", expected one element type";
    if (llvm::count(getOperands(), buffer) > 1) return emitOpError("has a buffer twice");
  }
  if (failed(verifyReduction(*this, element))) return failure();
  std::optional<int64_t> rank;
  if (program.getRank()) rank = llvm::find(met, int(*program.getRank())) - met.begin();
  for (unsigned tensor = 0; tensor < countTensors(); ++tensor)
    if (failed(verifyParts(*this, tensor, ranks, rank))) return failure();
  SymbolTableCollection symbols;
  SmallVector<BufferAccess> accesses;
  getAccesses(symbols, accesses);
  for (const BufferAccess &access : accesses)
    if (writes(access.mode) && failed(verifyWritable(*this, access.buffer))) return failure();
  return success();
}

void CollectiveOp::getAccesses(SymbolTableCollection &, SmallVectorImpl<BufferAccess> &accesses) {
  bool isChanged = formOf(*this) == Form::inPlace || (formOf(*this) == Form::toPart && kindOf(*this) != Kind::part);
  AccessMode mode = isChanged ? AccessMode::both : AccessMode::read;
  for (Value buffer : getBuffers()) accesses.push_back({buffer, mode, 0, byteSize(buffer.getType())});
  for (Value buffer : getTargets()) accesses.push_back({buffer, AccessMode::write, 0, byteSize(buffer.getType())});
}

StringRef CollectiveOp::getTitle() { return getLabel().value_or(stringifyCollectiveKind(getKind())); }
