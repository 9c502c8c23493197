// The partition pass: the program of one rank.
#define GEN_PASS_DEF_PARTITION
#include "lib/Shard/Passes.h"
#include "lib/Shard/PartitionRank.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/SpellParts.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/PartitionPlan.h"
#include "lib/Shard/Reshard.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::shard;
namespace dist = ir::dist;

namespace {

/// Writes one rank's body of a function beside the whole one.
class Writer {
public:
  Writer(const Mesh &mesh, int64_t rank, func::FuncOp function, const PartitionPlan &plan,
         const PartitionSettings &settings)
      : mesh(mesh), rank(rank), together(settings.together && plan.isAlike()),
        mayGather(settings.allowGather || !function->hasAttr(ir::kPassesAttr)), function(function), plan(plan),
        b(function.getContext()), resharder(b, mesh, rank, together) {
    if (settings.noteMost && !together) rankOfMost = findRankOfMost();
  }

  LogicalResult write();

private:
  struct Part {
    Sharding sharding;
    Value value;
  };

  LogicalResult write(Operation &op);
  Operation *onParts(Operation &op, ValueRange operands);
  void broadcastNumbers(Operation *part);
  Value partOf(Value value, const Sharding &wanted, Location loc);
  void define(Value value, Value part);
  LogicalResult checkGathers(Operation &op, const OpPlan &own);
  Value weighted(const OpPlan &own, OpResult value, Value part);

  int64_t findRankOfMost();
  void noteMost(Operation *part, ValueRange wholes, ArrayRef<Sharding> shardings);
  void markLate(Block &body);

  const Mesh &mesh;
  int64_t rank;
  bool together;                     // the program is every rank's
  bool mayGather;                    // values of samples
  std::optional<int64_t> rankOfMost; // whose sizes are noted
  func::FuncOp function;
  const PartitionPlan &plan;
  OpBuilder b;
  Resharder resharder;
  DenseMap<Value, SmallVector<Part, 1>> parts; // of each value; the first is as it is kept
  DenseSet<Value> samples;                     // values of which ranks have parts, as they take other samples
  DenseSet<Operation *> ofSamples;             // what works on parts of them
  DenseMap<Operation *, double> weights;       // of means, that the factors of losses take in
};

// The name of a sum that ranks add up where it is computed, after that of its operation.
Location locOf(const PartitionPlan &plan, Value value) {
  auto result = dyn_cast<OpResult>(value);
  StringRef sum =
      result && plan.of(result.getOwner()).axes ? plan.of(result.getOwner()).rule.sums[result.getResultNumber()] : "";
  if (sum.empty()) return value.getLoc();
  auto name = value.getLoc()->findInstanceOf<NameLoc>();
  return NameLoc::get(StringAttr::get(value.getContext(), name ? name.getName().getValue() + "." + sum : sum));
}

// A part that stays partial is kept so, any other one is made whole in one place, once.
void Writer::define(Value value, Value part) {
  Sharding kept = plan.kept(value);
  if (!(kept == plan.raw(value)) && !value.use_empty())
    part = resharder.reshard(locOf(plan, value), part, cast<RankedTensorType>(value.getType()), plan.raw(value), kept);
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

// What has one element broadcasts to a vector only without dimensions.
void Writer::broadcastNumbers(Operation *part) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(part);
  for (OpOperand &use : part->getOpOperands())
    if (auto type = cast<RankedTensorType>(use.get().getType()); type.getRank() > 1)
      use.set(ir::ReshapeOp::create(b, part->getLoc(), type.clone(ArrayRef<int64_t>()), use.get()));
}

Operation *Writer::onParts(Operation &op, ValueRange operands) {
  const OpPlan &own = plan.of(&op);
  if (own.axes) return buildLocal(&op, b, operands, own.axes->sizesOf(rank));
  Operation *part = b.clone(op);
  part->setOperands(operands);
  for (auto [result, sharding] : llvm::zip_equal(part->getResults(), own.gives))
    result.setType(mesh.localType(result.getType(), sharding, rank));
  bool isFlat = llvm::any_of(own.needs, [](const Sharding &sharding) { return !sharding.flat.empty(); });
  if (auto sum = dyn_cast<ir::ReduceOp>(part); sum && isFlat) sum.setAxes(0);
  if (isFlat && isa<ElementwiseOpInterface>(part)) broadcastNumbers(part);
  if (auto slice = dyn_cast<ir::SliceOp>(part)) {
    auto whole = cast<ir::SliceOp>(op);
    std::optional<BlockSlice> block = blockSliceOf(mesh, whole, own.needs[0].dims);
    Cut cut = mesh.cutOf(own.needs[0].dims[block->dim][0]);
    cut.blocks.resize(block->block); // those in front of it
    SmallVector<int64_t> starts(slice.getStarts());
    starts[block->dim] = 0;
    if (!cut.blocks.empty()) starts[block->dim] = mesh.countOf(whole.getStarts()[block->dim], mesh.numberOf(cut), rank);
    slice.setStarts(starts);
    slice.setSizes(slice.getType().getShape());
  }
  return part;
}

/// The last of the factors that a value is multiplied by one after the other, if nothing else reads any of the
/// products.
ir::LossScaleOp lastFactor(Value value) {
  ir::LossScaleOp last;
  auto next = [&] { return value.hasOneUse() ? dyn_cast<ir::LossScaleOp>(*value.user_begin()) : ir::LossScaleOp(); };
  while (ir::LossScaleOp factor = next()) value = (last = factor).getResult();
  return last;
}

// A mean of this rank's positions counts by their number. Of none it is no number, nor need a composite's sum be one:
// zero stands for it, in its place in the order of collectives.
Value Writer::weighted(const OpPlan &own, OpResult value, Value part) {
  double weight = 1;
  SmallVector<int64_t> sizes = own.axes->sizesOf(rank);
  for (auto [f, factor] : llvm::enumerate(own.rule.factors)) {
    if (!factor.size || !own.rule.isPartial(value.getResultNumber(), unsigned(f))) continue;
    if (factor.kind == FactorKind::mean) weight *= double(sizes[f]) / double(factor.size);
    bool isSumOfParts = factor.kind == FactorKind::sum && factor.addends.empty();
    if (isSumOfParts && !sizes[f] && isa<DecomposableOpInterface>(value.getOwner())) weight = 0;
  }
  if (weight == 1) return part;
  auto type = cast<RankedTensorType>(part.getType());
  Location loc = part.getLoc();
  if (weight == 0) return ir::AfterOp::create(b, loc, ir::createSplat(b, loc, type, 0), part);
  ir::LossScaleOp factor = lastFactor(value);
  if (factor && !plan.kept(factor.getOperand()).partial.empty()) { // one number for both
    weights[factor] = weight;
    return part;
  }
  return ir::MulOp::create(b, loc, part,
                           ir::createSplat(b, loc, RankedTensorType::get({}, type.getElementType()), weight));
}

/// Whether a rank has positions in the one that it needs more of in the other.
bool isGathered(const Sharding &from, const Sharding &to) {
  return llvm::any_of(llvm::zip_equal(from.dims, to.dims), [](auto each) {
    auto &[has, needs] = each;
    return !isPrefix(has, needs);
  });
}

LogicalResult Writer::checkGathers(Operation &op, const OpPlan &own) {
  if (mayGather) return success();
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (!samples.contains(value) || own.isWaitedFor(unsigned(i)) || !isGathered(plan.kept(value), own.needs[i]))
      continue;
    return op.emitError() << "'" << op.getName().getStringRef() << "' needs " << ir::describe(value.getType())
                          << " of all ranks' samples, which would gather " << bytesOf(value)
                          << " bytes a step; --allow-gather (TrainerOptions::allowGather) lets them";
  }
  return success();
}

LogicalResult Writer::write(Operation &op) {
  const OpPlan &own = plan.of(&op);
  if (failed(checkGathers(op, own))) return failure();
  SmallVector<Value> operands;
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    operands.push_back(own.isWaitedFor(unsigned(i)) ? parts[value].front().value
                                                    : partOf(value, own.needs[i], op.getLoc()));
  if (isa<dist::ShardOp>(op)) {
    define(op.getResult(0), operands[0]);
    return success();
  }
  Operation *part = onParts(op, operands);
  if (auto weight = weights.find(&op); weight != weights.end()) {
    auto scale = cast<ir::LossScaleOp>(part);
    double factor = scale.getFactor().convertToDouble() * weight->second;
    OpBuilder at(part);
    scale.getRoundedMutable().assign(ir::createSplat(at, op.getLoc(), scale.getRounded().getType(), factor));
  }
  if (llvm::any_of(op.getOperands(), [&](Value value) { return samples.contains(value); })) {
    ofSamples.insert(part);
    for (auto [value, sharding] : llvm::zip_equal(op.getResults(), own.gives))
      if (sharding.isSplit()) samples.insert(value);
  }
  part->removeDiscardableAttr(dist::kShardingsAttr);
  for (auto [value, result, sharding] : llvm::zip_equal(op.getResults(), part->getResults(), own.gives)) {
    Type expected = mesh.localType(value.getType(), sharding, rank);
    if (result.getType() != expected)
      return op.emitError() << "the dimension rule of '" << op.getName().getStringRef() << "' gives "
                            << result.getType() << " where ranks have " << expected;
  }
  noteMost(part, op.getResults(), own.gives);
  for (auto [value, result] : llvm::zip_equal(op.getResults(), part->getResults()))
    define(value, own.axes ? weighted(own, value, result) : Value(result));
  return success();
}

// By its parts of the arguments, from which all others follow.
int64_t Writer::findRankOfMost() {
  int64_t most = -1, found = 0;
  for (int64_t each = 0; each < mesh.numRanks(); ++each) {
    int64_t bytes = 0;
    for (Value argument : function.getArguments())
      bytes += bytesOf(mesh.localType(argument.getType(), plan.raw(argument), each));
    if (bytes > most) most = bytes, found = each;
  }
  return found;
}

void Writer::noteMost(Operation *part, ValueRange wholes, ArrayRef<Sharding> shardings) {
  if (!rankOfMost || *rankOfMost == rank) return;
  SmallVector<int64_t> most;
  for (auto [whole, sharding] : llvm::zip_equal(wholes, shardings))
    most.push_back(bytesOf(mesh.localType(whole.getType(), sharding, *rankOfMost)));
  auto own = llvm::map_range(part->getResults(), [](Value value) { return bytesOf(value); });
  if (!llvm::equal(most, own)) part->setAttr(dist::kMostBytesAttr, b.getDenseI64ArrayAttr(most));
}

// What no sample waits for may come at the end of a step.
void Writer::markLate(Block &body) {
  if (!function->hasAttr(ir::kPassesAttr)) return;
  DenseSet<Operation *> needed = ofSamples; // for samples, at last
  for (Operation &op : llvm::reverse(body)) {
    if (llvm::any_of(op.getUsers(), [&](Operation *user) { return needed.contains(user); })) needed.insert(&op);
    if (dist::mayBeLate(&op) && !needed.contains(&op)) op.setAttr(dist::kLateAttr, b.getUnitAttr());
  }
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
  for (auto [argument, part] : llvm::zip_equal(whole.getArguments(), body->getArguments())) {
    define(argument, part);
    if (plan.raw(argument).isSplit()) samples.insert(argument);
  }
  for (Operation &op : whole)
    if (failed(write(op))) return failure();
  llvm::append_range(results, body->getTerminator()->getOperandTypes());
  markLate(*body);
  // A program in which ranks do nothing together is like any other.
  auto isCollective = [](Operation &op) { return dist::collectiveUse(&op).has_value(); };
  if (!together && llvm::any_of(*body, isCollective)) function->setAttr(dist::kRankAttr, b.getI64IntegerAttr(rank));
  // Those who deal samples to ranks ask how many all have.
  if (auto passes = dyn_cast_or_null<DenseI64ArrayAttr>(function->removeAttr(ir::kPassesAttr)))
    function->setAttr(dist::kSamplesAttr, b.getI64IntegerAttr(llvm::sum_of(passes.asArrayRef())));
  whole.dropAllReferences();
  whole.erase();
  ir::spellParts(function);
  function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
  for (unsigned i = 0; i < inputs.size(); ++i) function.removeArgAttr(i, dist::kShardingAttr);
  for (unsigned i = 0; i < results.size(); ++i)
    function.removeResultAttr(i, StringAttr::get(function.getContext(), dist::kShardingAttr));
  return success();
}

/// The part of a constant's vector; zeros behind its end.
ElementsAttr flatPartOf(ElementsAttr value, rt::collective::Range part) {
  ir::ConstantView view(value);
  RankedTensorType type = view.type().clone(part.size());
  bool isZero = view.isSplat() && llvm::all_of(view.bytes(), [](char byte) { return byte == 0; });
  if (isZero) return ir::makeConstant(type, view.bytes());
  std::vector<char> bytes;
  for (int64_t i = part.begin; i < std::min(part.end, view.type().getNumElements()); ++i)
    llvm::append_range(bytes, view.element(i));
  bytes.resize(size_t(part.size()) * size_t(storageBytes(type.getElementType())));
  return ir::makeConstant(type, std::move(bytes));
}

LogicalResult divide(const Mesh &mesh, int64_t rank, ir::ParamOp param) {
  auto said = param->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr);
  if (!said) return success();
  if (!said.getPartial().empty())
    return param.emitOpError() << "is a partial value, and parameters are whole ones or parts";
  std::string why;
  if (!ir::isReadableConstant(param.getValue(), why)) return param.emitOpError() << "is not readable: " << why;
  Sharding sharding = mesh.read(said, param.getTensorType());
  param->removeAttr(dist::kShardingAttr);
  if (!sharding.flat.empty()) {
    RankedTensorType whole = param.getTensorType();
    auto part = mesh.flatPieceOf(whole.getNumElements(), sharding.flat, rank);
    param.setValueAttr(flatPartOf(param.getValue(), part));
    param->setAttr(dist::kPieceAttr, DenseI64ArrayAttr::get(param.getContext(), whole.getShape()));
    return success();
  }
  param.setValueAttr(partOf(mesh, param.getValue(), sharding, rank));
  return success();
}

struct Partition : sprig::impl::PartitionBase<Partition> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    FailureOr<dist::MeshOp> mesh = meshToPartition(getOperation(), rank);
    if (failed(mesh) || failed(partitionForRank(getOperation(), Mesh(*mesh), rank, {together, allowGather, noteMost})))
      signalPassFailure();
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

LogicalResult sprig::shard::partitionForRank(func::FuncOp function, const Mesh &mesh, int64_t rank,
                                             const PartitionSettings &settings) {
  FailureOr<PartitionPlan> plan = PartitionPlan::make(mesh, function);
  if (failed(plan)) return failure();
  return Writer(mesh, rank, function, *plan, settings).write();
}

LogicalResult sprig::shard::partitionForRank(ModuleOp module, const Mesh &mesh, int64_t rank,
                                             const PartitionSettings &settings) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && failed(partitionForRank(function, mesh, rank, settings))) return failure();
  for (auto param : module.getOps<ir::ParamOp>())
    if (failed(divide(mesh, rank, param))) return failure();
  return success();
}
