#include "lib/Shard/PartitionPlan.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/Reshard.h"

using namespace mlir;

namespace sprig::shard {

namespace dist = ir::dist;

static dist::Reduction reductionOf(FactorKind kind) {
  switch (kind) {
  case FactorKind::product: return dist::Reduction::product;
  case FactorKind::min: return dist::Reduction::min;
  case FactorKind::max: return dist::Reduction::max;
  default: return dist::Reduction::sum;
  }
}

static ir::ParamOp paramOf(Operation *op, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<ir::ParamOp>(op, name);
}

static Sharding shardingOf(const Mesh &mesh, ir::ParamOp param) {
  auto said = param->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr);
  return said ? mesh.read(said, param.getTensorType()) : Sharding::replicated(param.getTensorType());
}

std::optional<BlockSlice> blockSliceOf(const Mesh &mesh, ir::SliceOp slice, ArrayRef<Axes> operand) {
  for (auto [dim, axes] : llvm::enumerate(operand)) {
    if (axes.size() != 1) continue;
    Cut cut = mesh.cutOf(axes[0]);
    int64_t first = 0, unit = cut.unit;
    for (auto [block, units] : llvm::enumerate(cut.blocks)) {
      bool isIt = slice.getStarts()[dim] == first && slice.getSizes()[dim] == units * unit &&
                  (units * unit < 2 || slice.getSteps()[dim] == 1);
      if (isIt) return BlockSlice{unsigned(dim), block, mesh.numberOf({cut.axis, cut.weights, {}, unit})};
      first += units * unit;
    }
  }
  return std::nullopt;
}

bool OpPlan::isWaitedFor(unsigned operand) const {
  auto isUnrelated = [&](const DimensionRule::Dim &dim) {
    return !dim.empty() && llvm::all_of(dim, [&](unsigned factor) {
      const Factor &own = rule.factors[factor];
      return own.kind == FactorKind::passes && own.unaffected.size() == rule.results.size();
    });
  };
  return axes && !rule.operands[operand].empty() && llvm::all_of(rule.operands[operand], isUnrelated);
}

static bool sumsAll(Operation *op) {
  auto sum = dyn_cast<ir::ReduceOp>(op);
  return sum && sum.getKind() == ir::ReduceKind::sum && sum.getType().getRank() == 0;
}

Axes flatAxesOf(Operation *op, llvm::function_ref<Axes(Value)> flatOf) {
  if (op->getNumResults() != 1 || !(isa<ElementwiseOpInterface>(op) || sumsAll(op))) return {};
  for (Value operand : op->getOperands())
    if (Axes flat = flatOf(operand); !flat.empty()) return flat;
  return {};
}

LogicalResult PartitionPlan::refuse(Operation &op) const {
  if (isa<ir::GradientOp, ir::JvpOp>(op))
    return op.emitOpError() << "asks for a derivative of whole values; differentiate before the partition";
  if (dist::collectiveUse(&op) || isa<dist::StepsOp>(op))
    return op.emitOpError() << "is of the program of one rank, which is not divided again";
  bool isOurs = isa<func::ReturnOp, ir::GetParamOp, ir::SetParamOp, dist::ShardOp>(op);
  if (!isOurs && (op.getNumSuccessors() || (op.getNumRegions() && !isa<DimensionRuleOpInterface>(op) && !isPure(&op)) ||
                  (!op.getNumRegions() && !isMemoryEffectFree(&op))))
    return op.emitOpError() << "has no meaning that ranks could share";
  return success();
}

const SmallVector<Axes> &PartitionPlan::dimsOf(Value value) const {
  return (statements.contains(value) ? statements : given).find(value)->second.dims;
}

/// Whether a value is only added to others, one chain of additions, until it is stated how the sum is to lie.
static bool leadsToStatement(Value value) {
  while (value.hasOneUse() && isa<ir::AddOp>(*value.user_begin())) value = (*value.user_begin())->getResult(0);
  return llvm::all_of(value.getUsers(), llvm::IsaPred<dist::ShardOp>);
}

// Partial terms of a stated sum stay as they are until it is made.
bool PartitionPlan::addsPartialTerms(Operation &op) const {
  if (!isa<ir::AddOp>(op) || !leadsToStatement(op.getResult(0))) return false;
  return !raw(op.getOperand(0)).partial.empty() && raw(op.getOperand(0)) == raw(op.getOperand(1));
}

// First what operands agree to be summed over; then what the results are to be; then what the operands are.
void PartitionPlan::planFactors(Operation &op, OpPlan &plan) {
  const DimensionRule &rule = plan.rule;
  plan.axes = std::make_unique<FactorAxes>(*mesh, rule);
  SmallVector<std::optional<Axes>> wanted(rule.factors.size());
  SmallVector<bool> agree(rule.factors.size(), true);
  for (auto [value, map] : llvm::zip_equal(op.getOperands(), rule.operands))
    for (auto [dim, own] : llvm::zip_equal(map, dimsOf(value)))
      for (auto &[factor, axes] : axesOfFactors(*mesh, rule, dim, own)) {
        if (wanted[factor] && *wanted[factor] != axes) agree[factor] = false;
        wanted[factor] = axes;
      }
  auto isAgreed = [&](unsigned factor) { return rule.factors[factor].isReduced() && agree[factor]; };
  for (auto [value, map] : llvm::zip_equal(op.getOperands(), rule.operands))
    plan.axes->take(map, dimsOf(value), isAgreed);
  bool isHeld = addsPartialTerms(op);
  for (auto [value, map] : llvm::zip_equal(op.getResults(), rule.results))
    if (statements.contains(value) && !isHeld) plan.axes->take(map, dimsOf(value));
  for (auto [value, map] : llvm::zip_equal(op.getOperands(), rule.operands))
    plan.axes->take(map, isHeld ? raw(value).dims : dimsOf(value));

  auto shardingOf = [&](const DimensionRule::Map &map, llvm::function_ref<bool(unsigned)> isPartialAlong) {
    Sharding own{plan.axes->dimsOf(map), {}};
    for (auto [i, factor] : llvm::enumerate(rule.factors)) {
      if ((*plan.axes)[unsigned(i)].empty() || !isPartialAlong(unsigned(i))) continue;
      for (unsigned axis : (*plan.axes)[unsigned(i)]) own.partial.push_back(mesh->axisOf(axis));
      own.reduction = reductionOf(factor.kind);
    }
    llvm::sort(own.partial);
    return own;
  };
  for (auto [i, map] : llvm::enumerate(rule.operands))
    plan.takes.push_back(shardingOf(map, [&](unsigned f) { return llvm::is_contained(rule.factors[f].addends, i); }));
  for (auto [i, map] : llvm::enumerate(rule.results)) {
    plan.partial.push_back(shardingOf(map, [&](unsigned f) { return rule.isPartial(unsigned(i), f); }));
    if (!rule.sums[i].empty()) resolved.insert(op.getResult(unsigned(i)));
  }
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    if (plan.isWaitedFor(unsigned(i))) plan.takes[i] = raw(value);
  plan.needs = plan.takes;
  plan.gives = plan.partial;
}

// Those of its operands; else what its result is to be.
Axes PartitionPlan::flatOf(Operation &op) const {
  Axes flat = flatAxesOf(&op, [&](Value value) { return given.find(value)->second.flat; });
  if (!flat.empty() || op.getNumResults() != 1 || !isa<ElementwiseOpInterface>(op)) return flat;
  auto stated = statements.find(op.getResult(0));
  return stated == statements.end() ? flat : stated->second.flat;
}

// Operands of the result's shape are flat too; of one element they broadcast to any shape.
LogicalResult PartitionPlan::planFlat(Operation &op, OpPlan &plan, const Axes &flat) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>((sumsAll(&op) ? op.getOperand(0) : op.getResult(0)).getType()).getShape();
  for (Value operand : op.getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getShape() != shape && type.getNumElements() != 1)
      return op.emitOpError() << "broadcasts " << type << " to a flat value, whose dimensions ranks do not have";
    plan.needs.push_back(Sharding::replicated(type));
    if (type.getShape() == shape) plan.needs.back().flat = flat;
  }
  plan.gives.push_back(Sharding::replicated(op.getResult(0).getType()));
  (sumsAll(&op) ? plan.gives[0].partial : plan.gives[0].flat) = flat;
  return success();
}

// The other dimensions pass.
bool PartitionPlan::planBlock(Operation &op, OpPlan &plan) {
  auto slice = dyn_cast<ir::SliceOp>(op);
  if (!slice) return false;
  SmallVector<Axes> dims = dimsOf(slice.getOperand());
  std::optional<BlockSlice> block = blockSliceOf(*mesh, slice, dims);
  if (!block) return false;
  planFactors(op, plan);
  plan.axes.reset();
  plan.needs[0].dims[block->dim] = dims[block->dim];
  plan.gives[0].dims[block->dim] = {block->axis};
  return true;
}

LogicalResult PartitionPlan::planReturn(Operation &op, OpPlan &plan) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto stated = function.getResultAttrOfType<dist::ShardingAttr>(unsigned(i), dist::kShardingAttr);
    plan.needs.push_back(stated ? mesh->read(stated, value.getType()) : Sharding{dimsOf(value), {}});
    if (!canReshard(raw(value), plan.needs.back()))
      return function.emitError() << "result " << i << " is to be " << stated << ", and what it is given is "
                                  << mesh->write(raw(value));
  }
  return success();
}

LogicalResult PartitionPlan::plan(Operation &op) {
  auto plan = std::make_unique<OpPlan>(&op);
  if (auto said = op.getAttrOfType<ArrayAttr>(dist::kShardingsAttr))
    for (auto [value, sharding] : llvm::zip_equal(op.getResults(), said.getAsRange<dist::ShardingAttr>()))
      statements[value] = mesh->read(sharding, value.getType());
  if (isa<func::ReturnOp>(op)) {
    if (failed(planReturn(op, *plan))) return failure();
  } else if (auto get = dyn_cast<ir::GetParamOp>(op)) {
    plan->gives = {shardingOf(*mesh, paramOf(get, get.getParamAttr()))};
  } else if (auto set = dyn_cast<ir::SetParamOp>(op)) {
    plan->needs = {shardingOf(*mesh, paramOf(set, set.getParamAttr()))};
  } else if (auto shard = dyn_cast<dist::ShardOp>(op)) {
    plan->needs = plan->gives = {mesh->read(shard.getSharding(), shard.getType())};
  } else if (Axes flat = flatOf(op); !flat.empty()) {
    if (failed(planFlat(op, *plan, flat))) return failure();
  } else if (!planBlock(op, *plan)) {
    for (Value operand : op.getOperands())
      if (!given.find(operand)->second.flat.empty())
        return op.emitOpError() << "takes a flat value, and is neither elementwise nor a sum of all elements";
    for (const Factor &factor : plan->rule.factors)
      for (Attribute name : factor.axes ? factor.axes.getValue() : ArrayRef<Attribute>())
        if (!mesh->axisNamed(cast<StringAttr>(name)))
          return op.emitOpError() << "is about axis " << name << ", and " << mesh->symbol() << " has none of that name";
    planFactors(op, *plan);
  }
  for (auto [value, sharding] : llvm::zip_equal(op.getResults(), plan->gives)) given[value] = sharding;
  plans[&op] = std::move(plan);
  return success();
}

// Whether partial sums in a set of operands, in all of it, may go through the operation as they are.
bool PartitionPlan::passesPartial(Operation &op, OpPlan &plan, ArrayRef<unsigned> operands) {
  Sharding first = kept(op.getOperand(operands.front()));
  if (first.partial.empty() || first.reduction != dist::Reduction::sum) return false;
  if (llvm::any_of(first.partial, [&](unsigned axis) { return plan.axes->uses(axis); })) return false;
  if (!plan.partial.front().partial.empty() && plan.partial.front().reduction != dist::Reduction::sum) return false;
  auto elementsOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  int64_t taken = 0, made = 0;
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    Sharding sharding = kept(value);
    bool isIn = llvm::is_contained(operands, unsigned(i));
    if (isIn ? sharding.partial != first.partial || sharding.reduction != first.reduction ||
                   sharding.dims != plan.needs[i].dims
             : !sharding.partial.empty())
      return false;
    if (isIn) taken += elementsOf(value);
  }
  for (Value result : op.getResults()) made += elementsOf(result);
  if (made > taken) return false;
  for (unsigned i : operands) plan.needs[i] = kept(op.getOperand(i));
  for (auto [sharding, own] : llvm::zip_equal(plan.gives, plan.partial)) {
    sharding.partial = own.partial;
    llvm::append_range(sharding.partial, first.partial);
    llvm::sort(sharding.partial);
    sharding.reduction = first.reduction;
  }
  return true;
}

// Decides which partial operands go through an operation; true where one that stayed partial so far does not any more.
bool PartitionPlan::settle(Operation &op) {
  OpPlan &plan = *plans[&op];
  bool isThrough = false;
  if (plan.axes && !op.getResults().empty()) {
    plan.needs = plan.takes;
    plan.gives = plan.partial;
    isThrough = llvm::any_of(plan.rule.linear, [&](ArrayRef<unsigned> set) { return passesPartial(op, plan, set); });
    for (auto [value, sharding] : llvm::zip_equal(op.getResults(), plan.gives)) given[value] = sharding;
  }
  bool hasChanged = false;
  // What is stated is where a sum over ranks is made.
  if (isa<dist::ShardOp>(op)) return false;
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    if (!isThrough && plan.needs[i].partial.empty() && !plan.isWaitedFor(unsigned(i)) && !kept(value).partial.empty())
      hasChanged |= resolved.insert(value).second;
  return hasChanged;
}

// A value that does not stay partial becomes what all need that read it, where they agree.
Sharding PartitionPlan::kept(Value value) const {
  const Sharding &computed = raw(value);
  if (computed.partial.empty() || !resolved.contains(value)) return computed;
  std::optional<SmallVector<Axes>> common;
  for (OpOperand &use : value.getUses()) {
    auto plan = plans.find(use.getOwner());
    if (plan == plans.end() || plan->second->isWaitedFor(use.getOperandNumber())) continue;
    const SmallVector<Axes> &dims = plan->second->needs[use.getOperandNumber()].dims;
    if (common && *common != dims) return {dimsOf(value), {}};
    common = dims;
  }
  return {common.value_or(dimsOf(value)), {}};
}

// Positions are made, by each rank its own, and constants are cut; both may be the same for all.
bool PartitionPlan::makesAlike(Value value, const Sharding &part) const {
  Operation *made = value.getDefiningOp();
  if (isa_and_nonnull<ir::IotaOp>(made)) return false;
  auto constant = dyn_cast_or_null<ir::ConstantOp>(made);
  if (!constant || ir::splatOf(value)) return true;
  ElementsAttr first = partOf(*mesh, constant.getValue(), part, 0);
  return llvm::all_of(llvm::seq<int64_t>(1, mesh->numRanks()),
                      [&](int64_t rank) { return partOf(*mesh, constant.getValue(), part, rank) == first; });
}

bool PartitionPlan::isAlike() const {
  auto partsAre = [&](Type type, const Sharding &sharding) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !sharding.flat.empty() ||
           llvm::all_of(llvm::zip_equal(tensor.getShape(), sharding.dims), [&](auto each) {
             auto [size, axes] = each;
             return mesh->isAlike(size, axes);
           });
  };
  auto isUsedAlike = [&](Value value, const Sharding &sharding) {
    bool isAdded = !sharding.partial.empty() && kept(value).partial.empty() && !isZero(value); // by one rank
    return !isAdded && partsAre(value.getType(), sharding) && (sharding == kept(value) || makesAlike(value, sharding));
  };
  return llvm::all_of(given, [&](const auto &each) { return partsAre(each.first.getType(), each.second); }) &&
         llvm::all_of(plans, [&](const auto &each) {
           return llvm::all_of(llvm::zip_equal(each.first->getOperands(), each.second->needs),
                               [&](auto use) { return isUsedAlike(std::get<0>(use), std::get<1>(use)); });
         });
}

/// Terms of a chain of additions, in order; those inside are read by the chain alone.
static void collectTerms(Value value, bool isRoot, SmallVectorImpl<Value> &terms) {
  auto sum = value.getDefiningOp<ir::AddOp>();
  if (!sum || !(isRoot || value.hasOneUse()) || sum.getLhs().getType() != sum.getType() ||
      sum.getRhs().getType() != sum.getType()) {
    terms.push_back(value);
    return;
  }
  collectTerms(sum.getLhs(), false, terms);
  collectTerms(sum.getRhs(), false, terms);
}

static void eraseUnread(ir::AddOp sum) {
  if (!sum || !sum->use_empty()) return;
  auto left = sum.getLhs().getDefiningOp<ir::AddOp>(), right = sum.getRhs().getDefiningOp<ir::AddOp>();
  sum->erase();
  eraseUnread(left);
  if (right != left) eraseUnread(right);
}

// Of sums of values some of which are partial, the partial ones are added first, in order, and the whole ones: one sum
// over ranks, and one addition. True where additions were put in another order.
bool PartitionPlan::regroup() {
  auto isPartial = [&](Value value) { return !raw(value).partial.empty(); };
  auto termsOf = [](Value value, bool isRoot) {
    SmallVector<Value> terms;
    collectTerms(value, isRoot, terms);
    return terms;
  };
  for (auto sum : function.getBody().front().getOps<ir::AddOp>()) {
    if (sum->hasOneUse() && isa<ir::AddOp>(*sum->user_begin())) continue; // inside a chain
    SmallVector<Value> terms = termsOf(sum.getResult(), true), partial = llvm::filter_to_vector(terms, isPartial);
    bool isGrouped =
        llvm::none_of(termsOf(sum.getLhs(), false), isPartial) && llvm::all_of(termsOf(sum.getRhs(), false), isPartial);
    if (isGrouped || partial.size() < 2 || partial.size() == terms.size()) continue;
    OpBuilder b(sum);
    Operation *reader = sum->hasOneUse() ? *sum->user_begin() : nullptr;
    Location loc = isa_and_nonnull<dist::ShardOp>(reader) ? reader->getLoc() : sum.getLoc();
    auto added = [&](ArrayRef<Value> values) {
      Value all = values[0];
      for (Value value : values.drop_front()) all = ir::AddOp::create(b, loc, all, value);
      return all;
    };
    Value whole = added(llvm::filter_to_vector(terms, [&](Value value) { return !isPartial(value); }));
    sum.replaceAllUsesWith(ir::AddOp::create(b, loc, whole, added(partial)).getResult());
    eraseUnread(sum);
    return true;
  }
  return false;
}

FailureOr<PartitionPlan> PartitionPlan::make(const Mesh &mesh, func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "'" << function.getSymName() << "' has more than one block";
  Block &body = function.getBody().front();
  for (;;) {
    PartitionPlan plan(mesh, function);
    for (BlockArgument argument : body.getArguments()) {
      auto said = function.getArgAttrOfType<dist::ShardingAttr>(argument.getArgNumber(), dist::kShardingAttr);
      plan.given[argument] = said ? mesh.read(said, argument.getType()) : Sharding::replicated(argument.getType());
    }
    for (Operation &op : body)
      if (failed(plan.refuse(op)) || failed(plan.plan(op))) return failure();
    auto isWhole = [](const auto &each) { return each.second.partial.empty(); };
    if (llvm::all_of(plan.given, isWhole)) return plan;
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (Operation &op : body) hasChanged |= plan.settle(op);
    }
    if (!plan.regroup()) return plan;
  }
}

} // namespace sprig::shard
