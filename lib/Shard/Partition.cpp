// The partition pass: the program of one rank.
#include "lib/Shard/Passes.h"
#include "lib/Shard/PartitionRank.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/PartitionPlan.h"
#include "lib/Shard/Reshard.h"

namespace sprig {
#define GEN_PASS_DEF_PARTITION
#include "lib/Shard/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
using namespace sprig::shard;
namespace dist = ir::dist;

namespace {

/// Writes one rank's body of a function beside the whole one.
class Writer {
public:
  Writer(const Mesh &mesh, int64_t rank, func::FuncOp function, const PartitionPlan &plan)
      : mesh(mesh), rank(rank), function(function), plan(plan), b(function.getContext()), resharder(b, mesh, rank) {}

  LogicalResult write();

private:
  struct Part {
    Sharding sharding;
    Value value;
  };

  LogicalResult write(Operation &op);
  Value partOf(Value value, const Sharding &wanted, Location loc);
  void define(Value value, Value part);

  const Mesh &mesh;
  int64_t rank;
  func::FuncOp function;
  const PartitionPlan &plan;
  OpBuilder b;
  Resharder resharder;
  DenseMap<Value, SmallVector<Part, 1>> parts; // of each value; the first is as it is kept
};

// A part that stays partial is kept so, any other one is made whole in one place, once.
void Writer::define(Value value, Value part) {
  Sharding kept = plan.kept(value);
  if (!(kept == plan.raw(value)) && !value.use_empty())
    part = resharder.reshard(value.getLoc(), part, cast<RankedTensorType>(value.getType()), plan.raw(value), kept);
  parts[value].push_back({kept, part});
}

Value Writer::partOf(Value value, const Sharding &wanted, Location loc) {
  for (const Part &part : parts[value])
    if (part.sharding == wanted || !isa<RankedTensorType>(value.getType())) return part.value;
  Part first = parts[value].front();
  Value moved = resharder.reshard(loc, first.value, cast<RankedTensorType>(value.getType()), first.sharding, wanted);
  parts[value].push_back({wanted, moved});
  return moved;
}

LogicalResult Writer::write(Operation &op) {
  const OpPlan &own = plan.of(&op);
  SmallVector<Value> operands;
  for (auto [value, needed] : llvm::zip_equal(op.getOperands(), own.needs))
    operands.push_back(partOf(value, needed, op.getLoc()));
  if (isa<dist::ShardOp>(op)) {
    define(op.getResult(0), operands[0]);
    return success();
  }
  Operation *part;
  if (own.axes) {
    SmallVector<int64_t> sizes = own.axes->sizesOf(rank);
    part = buildLocal(&op, b, operands, sizes);
  } else {
    part = b.clone(op);
    part->setOperands(operands);
    for (auto [result, sharding] : llvm::zip_equal(part->getResults(), own.gives))
      result.setType(mesh.localType(result.getType(), sharding, rank));
  }
  part->removeDiscardableAttr(dist::kShardingsAttr);
  for (auto [value, result, sharding] : llvm::zip_equal(op.getResults(), part->getResults(), own.gives)) {
    Type expected = mesh.localType(value.getType(), sharding, rank);
    if (result.getType() != expected)
      return op.emitError() << "the dimension rule of '" << op.getName().getStringRef() << "' gives "
                            << result.getType() << " where ranks have " << expected;
  }
  for (auto [value, result] : llvm::zip_equal(op.getResults(), part->getResults())) define(value, result);
  return success();
}

LogicalResult Writer::write() {
  Block &whole = function.getBody().front();
  Block *body = new Block();
  function.getBody().push_back(body);
  b.setInsertionPointToStart(body);
  SmallVector<Type> inputs, results;
  for (BlockArgument argument : whole.getArguments()) {
    inputs.push_back(mesh.localType(argument.getType(), plan.raw(argument), rank));
    body->addArgument(inputs.back(), argument.getLoc());
  }
  for (auto [argument, part] : llvm::zip_equal(whole.getArguments(), body->getArguments())) define(argument, part);
  for (Operation &op : whole)
    if (failed(write(op))) return failure();
  llvm::append_range(results, body->getTerminator()->getOperandTypes());
  whole.dropAllReferences();
  whole.erase();
  function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
  for (unsigned i = 0; i < inputs.size(); ++i) function.removeArgAttr(i, dist::kShardingAttr);
  for (unsigned i = 0; i < results.size(); ++i)
    function.removeResultAttr(i, StringAttr::get(function.getContext(), dist::kShardingAttr));
  // A program in which ranks do nothing together is like any other.
  auto isCollective = [](Operation &op) { return dist::collectiveUse(&op).has_value(); };
  if (llvm::any_of(*body, isCollective)) function->setAttr(dist::kRankAttr, b.getI64IntegerAttr(rank));
  return success();
}

/// The part of a constant.
ElementsAttr partOf(ElementsAttr value, ArrayRef<rt::collective::Range> ranges) {
  ir::ConstantView view(value);
  SmallVector<int64_t> shape;
  for (const rt::collective::Range &range : ranges) shape.push_back(range.size());
  RankedTensorType type = view.type().clone(shape);
  if (view.isSplat()) return ir::makeConstant(type, view.bytes());
  if (type == view.type()) return value;
  std::vector<char> bytes;
  SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t from = 0, left = i;
    for (size_t dim = shape.size(); dim-- > 0; left /= shape[dim]) at[dim] = ranges[dim].begin + left % shape[dim];
    for (size_t dim = 0; dim < shape.size(); ++dim) from = from * view.type().getDimSize(int64_t(dim)) + at[dim];
    llvm::append_range(bytes, view.element(from));
  }
  return ir::makeConstant(type, std::move(bytes));
}

LogicalResult divide(const Mesh &mesh, int64_t rank, ir::ParamOp param) {
  auto said = param->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr);
  if (!said) return success();
  if (!said.getPartial().empty())
    return param.emitOpError() << "is a partial value, and parameters are whole ones or parts";
  std::string why;
  if (!ir::isReadableConstant(param.getValue(), why)) return param.emitOpError() << "is not readable: " << why;
  SmallVector<rt::collective::Range> ranges;
  Sharding sharding = mesh.read(said);
  for (auto [size, axes] : llvm::zip_equal(param.getTensorType().getShape(), sharding.dims))
    ranges.push_back(mesh.pieceOf(size, axes, rank));
  param.setValueAttr(partOf(param.getValue(), ranges));
  param->removeAttr(dist::kShardingAttr);
  return success();
}

struct Partition : sprig::impl::PartitionBase<Partition> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    FailureOr<dist::MeshOp> mesh = meshToPartition(getOperation(), rank);
    if (failed(mesh) || failed(partitionForRank(getOperation(), Mesh(*mesh), rank))) signalPassFailure();
  }
};

} // namespace

FailureOr<dist::MeshOp> sprig::shard::meshToPartition(ModuleOp module, int64_t rank) {
  FailureOr<dist::MeshOp> mesh = findMesh(module);
  if (failed(mesh)) return failure();
  if (!*mesh) return module.emitError() << "there is no sharding to divide a program by";
  if (rank >= 0 && rank < mesh->numRanks()) return mesh;
  return mesh->emitError() << "rank " << rank << " is none of the " << mesh->numRanks() << " of @"
                           << mesh->getSymName();
}

LogicalResult sprig::shard::partitionForRank(ModuleOp module, const Mesh &mesh, int64_t rank) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) continue;
    FailureOr<PartitionPlan> plan = PartitionPlan::make(mesh, function);
    if (failed(plan) || failed(Writer(mesh, rank, function, *plan).write())) return failure();
  }
  for (auto param : module.getOps<ir::ParamOp>())
    if (failed(divide(mesh, rank, param))) return failure();
  return success();
}
