#include "lib/Schedule/RankPrograms.h"

using namespace mlir;

namespace sprig {

namespace dist = ir::dist;

bool isCollective(Operation *op) { return dist::collectiveUse(op).has_value(); }

bool isCollectiveCommand(Operation *command) { return isa<exec::AllReduceOp>(command); }

static dist::MeshOp meshOf(dist::AllReduceOp op) {
  return SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(op, op.getMeshAttr());
}

LogicalResult checkCollective(Operation *op) {
  auto reduce = dyn_cast<dist::AllReduceOp>(op);
  if (!reduce) return op->emitOpError("is no command of programs yet, only dist.all_reduce is");
  dist::MeshOp mesh = meshOf(reduce);
  if (int64_t(mesh.groupOf(0, reduce.getAxes()).size()) == mesh.numRanks()) return success();
  return op->emitOpError("is of a part of the mesh's ranks; programs have collectives of all ranks alone yet");
}

void stateRanks(exec::ProgramOp program, func::FuncOp function) {
  Builder b(program.getContext());
  for (auto [from, to] : {std::pair(StringRef(dist::kRankAttr), program.getRankAttrName()),
                          {dist::kSamplesAttr, program.getSamplesOfRanksAttrName()}})
    if (auto value = function->getAttrOfType<IntegerAttr>(from))
      program->setAttr(to, b.getI64IntegerAttr(value.getInt()));
  function.walk([&](dist::AllReduceOp op) {
    dist::MeshOp mesh = meshOf(op);
    program.setRanks(mesh.numRanks());
    for (StringRef fact : {dist::kLatencyAttr, dist::kRateAttr, dist::kApartAttr})
      if (Attribute value = mesh->getDiscardableAttr(fact)) program->setDiscardableAttr(fact, value);
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

void addCommand(OpBuilder &b, dist::AllReduceOp op, ArrayRef<Value> buffers) {
  if (!buffers.empty())
    exec::AllReduceOp::create(b, op.getLoc(), exec::Reduction(op.getReduction()), buffers, op.getAlgorithmAttr(),
                              labelOf(b.getContext(), op.getLoc()));
}

LogicalResult checkRanks(Operation *op, exec::ProgramOp program) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<dist::MeshOp>(op, dist::collectiveUse(op)->mesh);
  int64_t ranks = int64_t(program.getRanks().value_or(1));
  if (mesh.numRanks() == ranks) return success();
  return op->emitOpError("is of ") << mesh.numRanks() << " ranks, in a program whose first collective is of " << ranks;
}

} // namespace sprig
