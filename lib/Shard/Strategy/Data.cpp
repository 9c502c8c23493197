// Data parallelism: each rank has the whole model and some of the samples, and gradients are summed over all.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/Strategy/GradientOrder.h"
#include "lib/Shard/Strategy/Strategy.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

void dropMarks(ModuleOp module) {
  module.walk([](Operation *op) {
    for (StringRef mark : {ir::kGradientsAttr, ir::kTotalAttr, ir::kOptimizerStateAttr}) op->removeAttr(mark);
  });
}

Value stateValue(OpBuilder &b, Value value, const Mesh &mesh, const Sharding &sharding, StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  Operation *made = value.getDefiningOp();
  if (made && !made->isBeforeInBlock(&*b.getInsertionPoint())) b.setInsertionPointAfter(made);
  auto shard = dist::ShardOp::create(b, NameLoc::get(b.getStringAttr(name)), value, mesh.write(sharding));
  value.replaceUsesWithIf(shard.getResult(), [&](OpOperand &use) { return shard->isBeforeInBlock(use.getOwner()); });
  return shard.getResult();
}

// Arguments have the samples of one pass after the other, and every rank has its share of each pass. An argument whose
// sharding is stated already has no samples.
static void stateArguments(func::FuncOp function, const Mesh &mesh, unsigned axis, const StrategyOptions &options) {
  auto passes = function->getAttrOfType<DenseI64ArrayAttr>(ir::kPassesAttr);
  Cut cut{axis, options.weights, {}};
  if (passes.size() > 1) cut.blocks = passes.asArrayRef().vec();
  unsigned number = mesh.numberOf(cut);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (function.getArgAttr(unsigned(i), dist::kShardingAttr)) continue;
    Sharding sharding = Sharding::replicated(type);
    sharding.dims[0] = {number};
    function.setArgAttr(unsigned(i), dist::kShardingAttr, mesh.write(sharding));
  }
}

// The variance of one number is not known. `shares`: of a pass.
static LogicalResult checkNorms(func::FuncOp function, const Mesh &mesh, unsigned shares) {
  WalkResult result = function.walk([&](ir::BatchNormTrainOp norm) {
    if (!norm.getGroups() || !norm.getUnbiased()) return WalkResult::advance();
    ArrayRef<int64_t> shape = norm.getOperand().getType().getShape();
    bool isOne = llvm::all_of(shape.drop_front(2), [](int64_t size) { return size == 1; });
    for (int64_t rank = 0; isOne && rank < mesh.numRanks(); ++rank) {
      if (mesh.countOf(shape[0], shares, rank) != 1) continue;
      auto name = norm.getLoc()->findInstanceOf<NameLoc>();
      norm.emitError()
          << "batch norm '" << (name ? name.getName().getValue() : "")
          << "': has one value for each channel of 1 sample, which have no variance; `drop_last` leaves out a "
          << "last batch that is smaller (rank " << rank << " has 1 of " << shape[0] << " samples)";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// Ranks without samples wait for fewer results, so that no order of several steps follows from what all have.
static LogicalResult checkRepeated(func::FuncOp function, const Mesh &mesh, unsigned shares) {
  if (!function->hasAttr(ir::kRepeatAttr)) return success();
  for (int64_t samples : function->getAttrOfType<DenseI64ArrayAttr>(ir::kPassesAttr).asArrayRef())
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      if (mesh.countOf(samples, shares, rank) == 0)
        return function->getParentOp()->emitError()
               << "several steps in one call, and a batch of " << samples << " samples leaves ranks without any";
  return success();
}

/// The gradients of a function by their names, in the order in which the backward pass makes them.
static std::vector<std::pair<std::string, Value>> gradientsOf(func::FuncOp function) {
  std::vector<std::pair<std::string, Value>> gradients, ordered;
  std::vector<std::string> names;
  for (Operation &op : function.getBody().front())
    if (auto marked = op.getAttrOfType<ArrayAttr>(ir::kGradientsAttr))
      for (auto [name, value] : llvm::zip_equal(marked.getAsRange<StringAttr>(), op.getResults())) {
        gradients.push_back({name.str(), value});
        names.push_back(name.str());
      }
  for (size_t i : gradientOrder(function, names)) ordered.push_back(gradients[i]);
  return ordered;
}

LogicalResult stateSamples(ModuleOp module, const Mesh &mesh, const StrategyOptions &options,
                           llvm::function_ref<Sharding(RankedTensorType)> ofGradient) {
  std::optional<unsigned> axis = mesh.axisNamed("data");
  if (!axis) return module.emitError() << "a strategy over samples needs a mesh with an axis \"data\"";
  int64_t ranks = mesh.sizeOf(*axis), weights = int64_t(options.weights.size());
  if (weights && weights != ranks)
    return module.emitError() << weights << " weights of shares for " << ranks << " ranks along \"data\"";
  for (int64_t weight : options.weights)
    if (weight < 1) return module.emitError() << "a rank's share has weight " << weight << ", expected 1 or more";
  unsigned shares = mesh.numberOf({*axis, options.weights, {}});
  for (auto param : module.getOps<ir::ParamOp>())
    param->setAttr(dist::kShardingAttr, mesh.write(Sharding::replicated(param.getTensorType())));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(ir::kPassesAttr)) continue;
    if (failed(checkNorms(function, mesh, shares)) || failed(checkRepeated(function, mesh, shares))) return failure();
    stateArguments(function, mesh, *axis, options);
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder b(end);
    auto gradients = gradientsOf(function);
    Operation *last = nullptr; // that makes a gradient
    for (auto &[name, value] : gradients)
      if (!last || last->isBeforeInBlock(value.getDefiningOp())) last = value.getDefiningOp();
    if (last) b.setInsertionPointAfter(last);
    for (auto &[name, value] : gradients)
      stateValue(b, value, mesh, ofGradient(cast<RankedTensorType>(value.getType())), name);
    for (auto [i, value] : llvm::enumerate(SmallVector<Value>(end->getOperands()))) {
      if (function.getResultAttr(unsigned(i), dist::kShardingAttr)) continue; // stated already, as of an argument
      auto name = function.getResultAttrOfType<StringAttr>(unsigned(i), ir::kNameAttr);
      stateValue(b, value, mesh, Sharding::replicated(value.getType()), name ? name.getValue() : "");
      function.setResultAttr(unsigned(i), dist::kShardingAttr, mesh.write(Sharding::replicated(value.getType())));
    }
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (auto name = op.getAttrOfType<StringAttr>(ir::kTotalAttr))
        stateValue(b, op.getResult(0), mesh, Sharding::replicated(op.getResult(0).getType()), name);
  }
  return success();
}

LogicalResult stateData(ModuleOp module, const Mesh &mesh, const StrategyOptions &options) {
  return stateSamples(module, mesh, options, [](RankedTensorType type) { return Sharding::replicated(type); });
}

ArrayRef<Strategy> strategies() {
  static constexpr Strategy table[] = {{kStrategyNames[0], stateData}, {kStrategyNames[1], stateZero}};
  static_assert(std::size(table) == std::size(kStrategyNames));
  return table;
}

} // namespace sprig::shard
