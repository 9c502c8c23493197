#include "lib/Schedule/RankPrograms.h"
#include "runtime/collective/Collective.h"

using namespace mlir;

namespace sprig {

namespace dist = ir::dist;

bool isCollective(Operation *op) { return dist::collectiveUse(op).has_value(); }

bool isCollectiveCommand(Operation *command) {
  auto op = dyn_cast<exec::CollectiveOp>(command);
  return op && rt::collective::meets(rt::collective::Kind(op.getKind()));
}

CollectiveShape shapeOf(Operation *op) {
  using rt::collective::Form;
  rt::collective::Kind kind = dist::kindOf(op);
  Form form = rt::collective::formOf(kind);
  bool isChanged = form == Form::inPlace || (form == Form::toPart && rt::collective::meets(kind));
  return {isChanged, form == Form::inPlace, form == Form::fromPart};
}

static dist::MeshOp meshOf(Operation *op) {
  return SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(op, dist::collectiveUse(op)->mesh);
}

static int64_t groupSize(Operation *op) { return int64_t(meshOf(op).groupOf(0, dist::collectiveUse(op)->axes).size()); }
static bool isOfAll(Operation *op) { return groupSize(op) == meshOf(op).numRanks(); }

LogicalResult checkCollective(Operation *op) {
  if (groupSize(op) > 1) return success();
  return op->emitOpError("is over ") << dist::collectiveUse(op)->axes << " of " << dist::collectiveUse(op)->mesh
                                     << ", along which there is one rank";
}

// Of arguments and results that are pieces, where they lie.
static void statePieces(exec::ProgramOp program, func::FuncOp function) {
  Builder b(program.getContext());
  auto piecesOf = [&](unsigned count, llvm::function_ref<Attribute(unsigned)> attribute) {
    SmallVector<Attribute> pieces;
    for (unsigned i = 0; i < count; ++i) {
      auto piece = dyn_cast_if_present<DenseI64ArrayAttr>(attribute(i));
      pieces.push_back(piece ? piece : b.getDenseI64ArrayAttr({}));
    }
    bool isAny = llvm::any_of(pieces, [](Attribute piece) { return !cast<DenseI64ArrayAttr>(piece).empty(); });
    return isAny ? b.getArrayAttr(pieces) : ArrayAttr();
  };
  if (ArrayAttr pieces =
          piecesOf(function.getNumArguments(), [&](unsigned i) { return function.getArgAttr(i, dist::kPieceAttr); }))
    program.setInputPiecesAttr(pieces);
  if (ArrayAttr pieces =
          piecesOf(function.getNumResults(), [&](unsigned i) { return function.getResultAttr(i, dist::kPieceAttr); }))
    program.setOutputPiecesAttr(pieces);
}

void stateRanks(exec::ProgramOp program, func::FuncOp function) {
  Builder b(program.getContext());
  for (auto [from, to] : {std::pair(StringRef(dist::kRankAttr), program.getRankAttrName()),
                          {dist::kSamplesAttr, program.getSamplesOfRanksAttrName()}})
    if (auto value = function->getAttrOfType<IntegerAttr>(from))
      program->setAttr(to, b.getI64IntegerAttr(value.getInt()));
  statePieces(program, function);
  auto stated = function->getAttrOfType<FlatSymbolRefAttr>(dist::kMeshAttr);
  auto stateMesh = [&](dist::MeshOp mesh) {
    program.setRanks(mesh.numRanks());
    program.setIndependentSamples(false); // a call has one share of them
    if (mesh.getAxes().size() > 1 || stated) {
      program.setMeshAxesAttr(mesh.getAxesAttr());
      program.setMeshSizesAttr(mesh.getSizesAttr());
    }
  };
  if (stated) return stateMesh(SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(function, stated));
  function.walk([&](Operation *op) {
    if (!isCollective(op)) return WalkResult::advance();
    stateMesh(meshOf(op));
    return WalkResult::interrupt();
  });
}

static_assert(int(dist::Reduction::sum) == int(exec::Reduction::sum) &&
              int(dist::Reduction::mean) == int(exec::Reduction::mean) &&
              int(dist::Reduction::product) == int(exec::Reduction::product) &&
              int(dist::Reduction::min) == int(exec::Reduction::min) &&
              int(dist::Reduction::max) == int(exec::Reduction::max));

// Named by what they are of: "w1", "w1 and w2", "w1 and 5 more".
static StringAttr labelOf(MLIRContext *context, Location location) {
  SmallVector<StringRef> names;
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) names.push_back(exec::nameOf(part));
  } else {
    names.push_back(exec::nameOf(location));
  }
  if (names.front().empty()) return {};
  std::string label = names.front().str();
  if (names.size() == 2) label += (" and " + names.back()).str();
  if (names.size() > 2) label += " and " + std::to_string(names.size() - 1) + " more";
  return StringAttr::get(context, label);
}

bool isEmpty(Operation *op, unsigned i) {
  return exec::byteSize(op->getOperand(i).getType()) == 0 && exec::byteSize(op->getResult(i).getType()) == 0;
}

// Elements of a row of each whole; nothing where ranks share all of them evenly, whatever rows are.
// By the values' shapes: buffers stand for bytes.
static DenseI64ArrayAttr unitsOf(OpBuilder &b, Operation *op, int64_t ranks) {
  SmallVector<int64_t> units;
  bool isEven = true, isWholeResult = shapeOf(op).isWholeResult, isExchange = isa<dist::AllToAllOp>(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (isEmpty(op, i)) continue; // in no command
    ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(i).getType()).getShape(),
                      to = cast<RankedTensorType>(op->getResult(i).getType()).getShape();
    isEven &= (isWholeResult ? to : from).front() % ranks == 0 && (!isExchange || to.front() % ranks == 0);
    units.push_back(ShapedType::getNumElements(from.drop_front()));
  }
  return isEven ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(units);
}

void addCommand(OpBuilder &b, Operation *op, ArrayRef<Value> buffers, ArrayRef<Value> targets) {
  auto kind = exec::CollectiveKind(dist::kindOf(op));
  if (buffers.empty() && kind != exec::CollectiveKind::barrier) return;
  dist::CollectiveUse use = *dist::collectiveUse(op);
  exec::ReductionAttr reduction;
  if (use.reduction) reduction = exec::ReductionAttr::get(b.getContext(), exec::Reduction(*use.reduction));
  auto root = rt::collective::isRooted(rt::collective::Kind(kind)) ? b.getI64IntegerAttr(use.root) : IntegerAttr();
  DenseI64ArrayAttr units;
  if (!targets.empty()) units = unitsOf(b, op, groupSize(op));
  exec::CollectiveOp::create(b, op->getLoc(), exec::CollectiveKindAttr::get(b.getContext(), kind), reduction, buffers,
                             targets, root, isOfAll(op) ? ArrayAttr() : use.axes, units, use.algorithm,
                             labelOf(b.getContext(), op->getLoc()));
}

LogicalResult checkRanks(Operation *op, exec::ProgramOp program) {
  dist::MeshOp mesh = meshOf(op);
  int64_t ranks = int64_t(program.getRanks().value_or(1));
  if (mesh.numRanks() != ranks)
    return op->emitOpError("is of ") << mesh.numRanks() << " ranks, in a program whose first collective is of "
                                     << ranks;
  bool isOnItsMesh =
      mesh.getAxesAttr() == program.getMeshAxesAttr() && mesh.getSizesAttr() == program.getMeshSizesAttr();
  if (isOnItsMesh || isOfAll(op)) return success();
  return op->emitOpError("is of a part of ")
         << dist::collectiveUse(op)->mesh << ", in a program whose first collective is on another mesh";
}

} // namespace sprig
