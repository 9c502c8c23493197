#include "lib/Import/ONNX/DataControl.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNYield.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace sprig::onnximport {

BodyBlock::BodyBlock(Node &n, TypeRange arguments)
    : n(n), b(n.state.builder), block(new Block), attempt(n.importer, *block) {
  own.push_back(block);
  for (Type type : arguments) block->addArgument(type, n.loc);
}

static bool isFixed(Operation &op) { return isa<ir::ConstantOp, ir::GetParamOp>(op); }

Items BodyBlock::run(llvm::function_ref<Items()> import) {
  Items items;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    items = import();
  }
  for (Operation &op : llvm::make_early_inc_range(*block))
    if (isFixed(op)) op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  return items;
}

/// Whether an operation ends the run where its operands do not fit, or may never end: it must not run unasked.
static bool mustBeAsked(Operation &op) {
  return ir::isCheckedAtRunTime(&op) || op.getNumRegions() ||
         llvm::TypeSwitch<Operation *, bool>(&op)
             .Case<ir::GatherOp, ir::GatherElementsOp, ir::GatherNdOp, ir::ScatterElementsOp, ir::ScatterNdOp>(
                 [](auto indexed) { return !indexed.getIndices().template getDefiningOp<ir::ConstantOp>(); })
             .Default(false);
}

bool BodyBlock::mustBeAsked() { return llvm::any_of(*block, onnximport::mustBeAsked); }

void BodyBlock::hoistInvariants() {
  for (Operation &op : llvm::make_early_inc_range(*block))
    if (isPure(&op) && !onnximport::mustBeAsked(op) && !isa<DecomposableOpInterface>(op) &&
        llvm::none_of(op.getOperands(), [&](Value operand) { return operand.getParentBlock() == block; }))
      op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
}

void BodyBlock::become(Region &region) {
  attempt.keep();
  region.takeBody(own);
}

void BodyBlock::inlineAll() {
  attempt.keep();
  for (Operation &op : llvm::make_early_inc_range(*block)) op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
}

int64_t BodyBlock::flops() {
  int64_t flops = 0;
  for (Operation &op : *block)
    if (auto cost = dyn_cast<CostOpInterface>(op)) flops += cost.getFlops();
  return flops;
}

void BodyBlock::capture(Values &captured) {
  unsigned first = block->getNumArguments();
  for (Value value : captured) block->addArgument(value.getType(), n.loc);
  for (Operation &op : *block)
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      if (value.getParentBlock() == block) continue;
      auto at = llvm::find(captured, value);
      unsigned index = unsigned(at - captured.begin());
      if (at == captured.end()) {
        captured.push_back(value);
        block->addArgument(value.getType(), n.loc);
      }
      operand.set(block->getArgument(first + index));
    }
}

static void yield(Node &n, BodyBlock &body, ValueRange values) {
  OpBuilder::InsertionGuard guard(n.state.builder);
  n.state.builder.setInsertionPointToEnd(&*body);
  ir::YieldOp::create(n.state.builder, n.loc, values);
}

Values makeCond(Node &n, Value condition, BodyBlock &onTrue, const Values &trueValues, BodyBlock &onFalse,
                const Values &falseValues) {
  yield(n, onTrue, trueValues);
  yield(n, onFalse, falseValues);
  Values inputs;
  onTrue.capture(inputs);
  onFalse.capture(inputs);
  for (Value input : llvm::ArrayRef(inputs).drop_front(onTrue->getNumArguments()))
    onTrue->addArgument(input.getType(), n.loc);
  auto cond = ir::CondOp::create(n.state.builder, n.loc, ValueRange(trueValues).getTypes(), condition, inputs);
  onTrue.become(cond.getThenRegion());
  onFalse.become(cond.getElseRegion());
  return Values(cond.getResults());
}

/// Whether unrolling would know the condition of every step: it follows from carried values that start as constants and
/// follow from such ones themselves.
static bool isKnownWhenUnrolled(const Node &n, Block &step, const Values &start, const Values &next) {
  llvm::SmallVector<bool> fixed;
  for (Value value : start) fixed.push_back(n.tryInts(value).has_value());
  auto follows = [&](Value value) {
    Values open{value};
    llvm::DenseSet<Value> seen;
    while (!open.empty()) {
      Value each = open.pop_back_val();
      if (!seen.insert(each).second) continue;
      auto argument = dyn_cast<BlockArgument>(each);
      if (argument ? argument.getOwner() != &step || !fixed[argument.getArgNumber()]
                   : isa<ir::GetParamOp>(each.getDefiningOp()))
        return false;
      if (!argument) llvm::append_range(open, each.getDefiningOp()->getOperands());
    }
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < fixed.size(); ++i)
      if (fixed[i] && !follows(next[i])) {
        fixed[i] = false;
        changed = true;
      }
  }
  return fixed[1];
}

std::optional<Values> importWhile(Node &n, const onnx::GraphProto &body, Value trips, Value condition,
                                  const Values &initial) {
  OpBuilder &b = n.state.builder;
  auto most = trips ? n.tryInts(trips) : std::nullopt;
  if (most && (*most)[0] < 1) return std::nullopt;
  // Carried: the number of the step and whether there is another one, then the loop's own values.
  Values start{n.ints({0}, {}), condition ? n.reshape(condition, {}) : n.scalar(true, n.i1())};
  start.append(initial.begin(), initial.end());
  BodyBlock step(n, ValueRange(start).getTypes());
  auto arguments = step->getArguments();
  Values next;
  try {
    llvm::SaveAndRestore inLoop(n.state.rolledLoops, n.state.rolledLoops + 1);
    Items given = step.run([&] {
      Items inputs(arguments.begin(), arguments.end());
      return n.importer.runBody(body, inputs, n);
    });
    for (const Item &item : given) {
      if (!item.value) return std::nullopt;
      next.push_back(item.value);
    }
  } catch (const NeedsNumber &) {
    return std::nullopt; // a number that differs from step to step decides a shape
  } catch (const Error &) {
    return std::nullopt; // unrolling says what is wrong, if it is with numbers that are known
  }
  if (next.size() != start.size() - 1 || Emit::count(next[0]) != 1 || !Emit::elem(next[0]).isInteger(1))
    return std::nullopt;
  for (auto [value, carried] : llvm::zip_equal(llvm::drop_begin(next), initial))
    if (value.getType() != carried.getType()) return std::nullopt;
  bool isCounted = trips && !condition; // such a loop does not look at its condition
  step.run([&] {
    next[0] = isCounted ? Value(arguments[1]) : n.reshape(next[0], {});
    next.insert(next.begin(), n.add(arguments[0], n.ints({1}, {})));
    return Items();
  });
  if ((!trips || most) && isKnownWhenUnrolled(n, *step, start, next)) return std::nullopt;
  step.hoistInvariants();
  yield(n, step, next);
  Values invariants;
  step.capture(invariants);
  if (trips && !most) {
    invariants.push_back(n.reshape(trips, {}));
    step->addArgument(invariants.back().getType(), n.loc);
  }

  BodyBlock test(n, step->getArgumentTypes());
  test.run([&] {
    Value goesOn = test->getArgument(1);
    if (trips && !most) {
      Value left = n.compare(ir::ComparePredicate::lt, test->getArgument(0), test->getArguments().back());
      goesOn = isCounted ? left : n.op<ir::AndOp>({goesOn, left});
    }
    yield(n, test, goesOn);
    return Items();
  });
  auto loop = ir::WhileOp::create(b, n.loc, ValueRange(start).getTypes(), start, invariants,
                                  most ? b.getI64IntegerAttr((*most)[0]) : IntegerAttr());
  test.become(loop.getCondition());
  step.become(loop.getBody());
  return Values(llvm::drop_begin(loop.getResults(), 2));
}

} // namespace sprig::onnximport
