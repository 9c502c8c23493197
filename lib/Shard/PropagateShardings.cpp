// The propagate-shardings pass: from a few annotations to all values of a function.
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "lib/Shard/Passes.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/PartitionPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::shard;
namespace dist = ir::dist;

namespace {

/// The shardings of one function's values. Lists of axes only grow, so there is an end.
class Propagation {
public:
  /// With `openParameters` those of which nothing is stated follow, as any other value.
  Propagation(const Mesh &mesh, func::FuncOp function, bool openParameters)
      : mesh(mesh), function(function), openParameters(openParameters) {
    start();
  }

  void run();
  /// Composites of which a part lies on this rank that they need all of.
  SmallVector<DecomposableOpInterface> unfit();
  void write();
  const Sharding &of(Value value) { return at(value).sharding; }

private:
  struct Known {
    Sharding sharding;
    bool isFixed = false; // somebody said so
  };

  void start();
  void fix(Value value, const Sharding &sharding) { values[value] = {sharding, true}; }
  Known &at(Value value) {
    auto [found, isNew] = values.try_emplace(value);
    if (isNew) found->second.sharding = Sharding::replicated(value.getType());
    return found->second;
  }
  const DimensionRule &ruleOf(Operation *op) {
    auto [found, isNew] = rules.try_emplace(op);
    if (isNew) found->second = std::make_unique<DimensionRule>(ruleToDivide(op));
    return *found->second;
  }
  void extend(Value value, ArrayRef<Axes> dims);
  void visit(Operation &op, bool elementwiseOnly);
  void visitFactors(Operation &op);
  std::optional<SmallVector<Axes>> blockSliceOf(Operation &op);
  Axes flatOfReaders(Operation &op);
  void take(FactorAxes &axes, Operation &op, const DimensionRule &rule, bool ofFixed);

  const Mesh &mesh;
  func::FuncOp function;
  bool openParameters;
  DenseMap<Value, Known> values;
  DenseMap<Operation *, std::unique_ptr<DimensionRule>> rules;
  bool hasChanged = false;
};

// What users have said: arguments, parameters, dist.shard.
void Propagation::start() {
  for (BlockArgument argument : function.getArguments())
    if (auto said = function.getArgAttrOfType<dist::ShardingAttr>(argument.getArgNumber(), dist::kShardingAttr))
      fix(argument, mesh.read(said, argument.getType()));
  for (Operation &op : function.getBody().front()) {
    if (auto shard = dyn_cast<dist::ShardOp>(op))
      fix(shard.getResult(), mesh.read(shard.getSharding(), shard.getType()));
    auto get = dyn_cast<ir::GetParamOp>(op);
    if (!get) continue;
    auto param = SymbolTable::lookupNearestSymbolFrom<ir::ParamOp>(get, get.getParamAttr());
    auto said = param->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr);
    if (said || !openParameters)
      fix(get.getResult(),
          said ? mesh.read(said, get.getResult().getType()) : Sharding::replicated(get.getResult().getType()));
  }
}

// A value takes over what goes on from what it has, and no axis twice.
void Propagation::extend(Value value, ArrayRef<Axes> dims) {
  Known &known = at(value);
  if (known.isFixed || !isa<RankedTensorType>(value.getType())) return;
  for (auto [own, wanted] : llvm::zip_equal(known.sharding.dims, dims)) {
    if (!isPrefix(own, wanted)) continue;
    for (unsigned axis : ArrayRef(wanted).drop_front(own.size())) {
      if (mesh.splits(known.sharding, axis)) break;
      own.push_back(axis);
      hasChanged = true;
    }
  }
}

void Propagation::take(FactorAxes &axes, Operation &op, const DimensionRule &rule, bool ofFixed) {
  for (auto [value, map] : llvm::zip_equal(op.getResults(), rule.results))
    if (at(value).isFixed == ofFixed) axes.take(map, at(value).sharding.dims);
  for (auto [value, map] : llvm::zip_equal(op.getOperands(), rule.operands))
    if (at(value).isFixed == ofFixed) axes.take(map, at(value).sharding.dims);
}

void Propagation::visitFactors(Operation &op) {
  const DimensionRule &rule = ruleOf(&op);
  FactorAxes axes(mesh, rule);
  take(axes, op, rule, true);
  take(axes, op, rule, false);
  for (auto [value, map] : llvm::zip_equal(op.getResults(), rule.results)) extend(value, axes.dimsOf(map));
  for (auto [value, map] : llvm::zip_equal(op.getOperands(), rule.operands)) extend(value, axes.dimsOf(map));
}

// What the dimensions of a block that is sliced are split by.
std::optional<SmallVector<Axes>> Propagation::blockSliceOf(Operation &op) {
  auto slice = dyn_cast<ir::SliceOp>(op);
  if (!slice) return std::nullopt;
  SmallVector<Axes> dims = at(slice.getOperand()).sharding.dims;
  auto block = shard::blockSliceOf(mesh, slice, dims);
  if (!block) return std::nullopt;
  for (auto [dim, axes] : llvm::enumerate(dims))
    if (dim != block->dim && ruleOf(&op).isWhole(ruleOf(&op).operands[0][dim])) axes.clear();
  dims[block->dim] = {block->axis};
  return dims;
}

// A value is made as a flat vector where only operations on flat vectors read it, and no operand has another shape.
Axes Propagation::flatOfReaders(Operation &op) {
  if (!isa<ElementwiseOpInterface>(op) || op.getNumResults() != 1 || op.use_empty() || at(op.getResult(0)).isFixed)
    return {};
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  for (Value operand : op.getOperands())
    if (shapeOf(operand) != shapeOf(op.getResult(0)) && cast<RankedTensorType>(operand.getType()).getNumElements() != 1)
      return {};
  std::optional<Axes> flat;
  for (Operation *user : op.getUsers()) {
    Axes own = flatAxesOf(user, [&](Value value) { return at(value).sharding.flat; });
    if (own.empty() || (flat && *flat != own)) return {};
    flat = own;
  }
  return *flat;
}

void Propagation::visit(Operation &op, bool elementwiseOnly) {
  if (auto end = dyn_cast<func::ReturnOp>(op)) {
    for (auto [i, value] : llvm::enumerate(end.getOperands()))
      if (auto said = function.getResultAttrOfType<dist::ShardingAttr>(unsigned(i), dist::kShardingAttr))
        extend(value, mesh.read(said, value.getType()).dims);
  } else if (auto shard = dyn_cast<dist::ShardOp>(op)) {
    extend(shard.getX(), mesh.read(shard.getSharding(), shard.getType()).dims);
  } else if (auto set = dyn_cast<ir::SetParamOp>(op)) {
    auto param = SymbolTable::lookupNearestSymbolFrom<ir::ParamOp>(set, set.getParamAttr());
    if (auto said = param->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr))
      extend(set.getValue(), mesh.read(said, set.getValue().getType()).dims);
  } else if (Axes flat = flatAxesOf(&op, [&](Value value) { return at(value).sharding.flat; }); !flat.empty()) {
    Known &known = at(op.getResult(0));
    if (!known.isFixed && isa<ElementwiseOpInterface>(op)) {
      hasChanged |= known.sharding.flat.empty();
      known.sharding.flat = flat;
    }
  } else if (Axes flat = flatOfReaders(op); !flat.empty()) {
    hasChanged |= at(op.getResult(0)).sharding.flat.empty();
    at(op.getResult(0)).sharding.flat = flat;
  } else if (auto slice = blockSliceOf(op)) {
    extend(op.getResult(0), *slice);
  } else if (!elementwiseOnly || isa<ElementwiseOpInterface>(op)) {
    visitFactors(op);
  }
}

void Propagation::run() {
  for (bool elementwiseOnly : {true, false}) do {
      hasChanged = false;
      for (Operation &op : function.getBody().front()) visit(op, elementwiseOnly);
      for (Operation &op : llvm::reverse(function.getBody().front())) visit(op, elementwiseOnly);
    } while (hasChanged);
}

SmallVector<DecomposableOpInterface> Propagation::unfit() {
  SmallVector<DecomposableOpInterface> unfit;
  for (auto composite : function.getBody().front().getOps<DecomposableOpInterface>()) {
    const DimensionRule &rule = ruleOf(composite);
    // The parts of what works by axes that it names would not know of them.
    if (llvm::any_of(rule.factors, [](const Factor &factor) { return bool(factor.axes); })) continue;
    auto isSplit = [&](auto pair) {
      auto [value, map] = pair;
      return llvm::any_of(llvm::zip_equal(map, at(value).sharding.dims), [&](auto each) {
        auto [dim, axes] = each;
        return !axes.empty() && rule.isWhole(dim);
      });
    };
    if (llvm::any_of(llvm::zip_equal(composite->getOperands(), rule.operands), isSplit) ||
        llvm::any_of(llvm::zip_equal(composite->getResults(), rule.results), isSplit))
      unfit.push_back(composite);
  }
  return unfit;
}

void Propagation::write() {
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      function.setArgAttr(argument.getArgNumber(), dist::kShardingAttr, mesh.write(at(argument).sharding));
  for (Operation &op : function.getBody().front()) {
    SmallVector<Attribute> shardings;
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType())) shardings.push_back(mesh.write(at(result).sharding));
    if (!shardings.empty() && shardings.size() == op.getNumResults())
      op.setAttr(dist::kShardingsAttr, ArrayAttr::get(op.getContext(), shardings));
  }
  for (auto [i, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    if (isa<RankedTensorType>(value.getType()) && !function.getResultAttr(unsigned(i), dist::kShardingAttr)) {
      Sharding whole = at(value).sharding;
      whole.partial.clear();
      whole.flat.clear();
      // A piece of a result is one range of each dimension.
      for (Axes &axes : whole.dims)
        if (llvm::any_of(axes, [&](unsigned axis) { return mesh.cutOf(axis).blocks.size() > 1; })) axes.clear();
      whole.reduction = dist::Reduction::sum;
      function.setResultAttr(unsigned(i), dist::kShardingAttr, mesh.write(whole));
    }
}

struct PropagateShardings : sprig::impl::PropagateShardingsBase<PropagateShardings> {
  using PropagateShardingsBase::PropagateShardingsBase;

  void runOnOperation() override {
    FailureOr<dist::MeshOp> found = findMesh(getOperation());
    if (failed(found)) return signalPassFailure();
    if (!*found) return;
    Mesh mesh(*found);
    if (parameters && failed(stateParameters(mesh))) return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(propagate(mesh, function, false, [](Propagation &done) { done.write(); }))) return signalPassFailure();
  }

  // What all that read a parameter would have it be, where they agree.
  LogicalResult stateParameters(const Mesh &mesh) {
    llvm::MapVector<Operation *, std::optional<Sharding>> wanted;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto collect = [&](Propagation &done) {
        for (auto get : function.getBody().front().getOps<ir::GetParamOp>()) {
          Operation *param = SymbolTable::lookupNearestSymbolFrom(get, get.getParamAttr());
          auto [at, isNew] = wanted.try_emplace(param, done.of(get.getResult()));
          if (!isNew && !(at->second == done.of(get.getResult()))) at->second.reset();
        }
      };
      if (failed(propagate(mesh, function, true, collect))) return failure();
    }
    for (auto &[param, sharding] : wanted)
      if (sharding && sharding->isSplit()) param->setAttr(dist::kShardingAttr, mesh.write(*sharding));
    return success();
  }

  // What a composite needs whole is often all that its parts need a sum of: then they take its place, and all begins
  // again from what users have said.
  LogicalResult propagate(const Mesh &mesh, func::FuncOp function, bool openParameters,
                          llvm::function_ref<void(Propagation &)> then) {
    if (function.isExternal()) return success();
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "'" << function.getSymName() << "' has more than one block";
    for (;;) {
      Propagation propagation(mesh, function, openParameters);
      propagation.run();
      SmallVector<DecomposableOpInterface> unfit = propagation.unfit();
      if (unfit.empty()) {
        then(propagation);
        return success();
      }
      for (DecomposableOpInterface op : unfit)
        if (failed(decomposeInPlace(op))) return failure();
    }
  }
};

} // namespace
