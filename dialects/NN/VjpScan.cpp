// The vector-Jacobian product of a scan: a scan in the other direction. The forward scan also gives the carried values
// of every step; the backward one computes each step again from them and carries the cotangents of the carried values.
// The gradient of an invariant is a sum over the steps. Where each step's part is a product over rows, or a sum of
// rows, the factors of all steps are stacked and multiplied once after the scan; else the sum is carried.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNYield.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sprig::ir {

static Type stackedType(Type type, int64_t steps) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{steps};
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

namespace {
class ScanVjp {
public:
  ScanVjp(ScanOp scan, VjpExpression &e) : scan(scan), e(e), b(e.b), steps(scan.getSteps()) {}
  LogicalResult build();

private:
  void runForward();
  LogicalResult fillStep(Block &block);
  bool hoist(Value part, SmallVectorImpl<Value> &stacked,
             llvm::function_ref<void(std::function<Value(ValueRange)>)> add);

  ScanOp scan;
  VjpExpression &e;
  OpBuilder &b;
  int64_t steps;
  SmallVector<Value> states; // the carried values at the start of each step, stacked

  // What the backward step yields, in the order of the results.
  SmallVector<Value> carried, outputs;
  // How the gradient of an invariant comes from the results.
  struct Sum {
    unsigned operand;
    int64_t carriedAt = -1;                                                   // among the carried values
    SmallVector<std::pair<unsigned, std::function<Value(ValueRange)>>> terms; // first output and number are in `sizes`
    SmallVector<unsigned> sizes;
  };
  SmallVector<Sum> sums;
  SmallVector<std::pair<unsigned, unsigned>> inputGradients; // operand, place among the outputs
};
} // namespace

void ScanVjp::runForward() {
  OpBuilder at(scan);
  SmallVector<Type> types(scan.getResultTypes());
  for (Value value : scan.getInitial()) types.push_back(stackedType(value.getType(), steps));
  auto forward = ScanOp::create(at, scan.getLoc(), types, scan.getInputs(), scan.getInitial(), scan.getInvariants(),
                                scan.getSteps(), scan.getReverse());
  IRMapping mapping;
  scan.getBody().cloneInto(&forward.getBody(), mapping);
  Operation *yield = forward.getStep().getTerminator();
  SmallVector<Value> yielded(yield->getOperands());
  llvm::append_range(yielded, forward.getCarriedArguments());
  yield->setOperands(yielded);
  for (auto [i, result] : llvm::enumerate(scan.getResults())) result.replaceAllUsesWith(forward.getResult(i));
  llvm::append_range(states, forward.getResults().drop_front(scan.getNumResults()));
}

/// Takes a step's part of a gradient apart into factors whose stacks, combined once, give the sum over the steps.
bool ScanVjp::hoist(Value part, SmallVectorImpl<Value> &stacked,
                    llvm::function_ref<void(std::function<Value(ValueRange)>)> add) {
  Operation *op = part.getDefiningOp();
  if (!op) return false;
  if (auto product = dyn_cast<MatmulOp>(op)) {
    auto rank = [](Value v) { return VjpExpression::typeOf(v).getRank(); };
    if (!product.getTransposeLhs() || product.getTransposeRhs() || rank(product.getLhs()) != 2 ||
        rank(product.getRhs()) != 2)
      return false;
    stacked.append({product.getLhs(), product.getRhs()});
    add([this](ValueRange stacks) {
      auto matrix = [&](Value v) {
        auto shape = VjpExpression::typeOf(v).getShape();
        return e.reshape(v, {shape[0] * shape[1], shape[2]});
      };
      return MatmulOp::create(b, e.loc, matrix(stacks[0]), matrix(stacks[1]), true, false).getResult();
    });
    return true;
  }
  if (auto sum = dyn_cast<ReduceOp>(op); sum && sum.getKind() == ReduceKind::sum) {
    stacked.push_back(sum.getOperand());
    SmallVector<int64_t> axes{0};
    for (int64_t axis : sum.getAxes()) axes.push_back(axis + 1);
    auto shape = SmallVector<int64_t>(sum.getType().getShape());
    add([this, axes, shape](ValueRange stacks) {
      return e.reshape(e.reduce(ReduceKind::sum, stacks[0], axes, false), shape);
    });
    return true;
  }
  return false;
}

LogicalResult ScanVjp::fillStep(Block &block) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  unsigned inputs = scan.getNumInputs(), carriedCount = scan.getNumCarried();
  auto arguments = block.getArguments();
  // Arguments: inputs, states, cotangents of outputs; cotangents of carried values, sums; invariants.
  SmallVector<Value> given(arguments.begin(), arguments.begin() + inputs + carriedCount);
  auto invariants = arguments.take_back(scan.getInvariants().size());
  given.append(invariants.begin(), invariants.end());
  IRMapping mapping;
  mapping.map(scan.getStep().getArguments(), given);
  for (Operation &op : scan.getStep().without_terminator()) b.clone(op, mapping);

  SmallVector<Value> values, cotangents, targets;
  unsigned nextOutput = inputs + carriedCount, nextCarried = nextOutput;
  for (unsigned i = carriedCount; i < scan.getNumResults(); ++i) nextCarried += isReal(scan.getResult(i));
  for (auto [i, value] : llvm::enumerate(scan.getStep().getTerminator()->getOperands())) {
    if (!isReal(value)) continue;
    values.push_back(mapping.lookupOrDefault(value));
    cotangents.push_back(arguments[i < carriedCount ? nextCarried++ : nextOutput++]);
  }
  unsigned firstSum = nextCarried;
  for (auto [i, value] : llvm::enumerate(given)) {
    bool isState = i >= inputs && i < inputs + carriedCount;
    if (isReal(value) && (isState || e.needs(i))) targets.push_back(value);
  }
  auto gradients = e.pullback(b, values, cotangents, targets);
  if (failed(gradients)) return failure();

  unsigned next = 0;
  SmallVector<Value> inputParts;
  SmallVector<std::pair<unsigned, Value>> invariantParts;
  for (auto [i, value] : llvm::enumerate(given)) {
    bool isState = i >= inputs && i < inputs + carriedCount;
    if (!isReal(value) || !(isState || e.needs(i))) continue;
    Value gradient = (*gradients)[next++];
    if (isState) {
      carried.push_back(gradient);
    } else if (i < inputs) {
      inputGradients.push_back({i, outputs.size()});
      outputs.push_back(gradient);
    } else {
      invariantParts.push_back({i, gradient});
    }
  }
  for (auto [operand, gradient] : invariantParts) {
    Sum sum{operand, -1, {}, {}};
    // A sum of terms that can each be taken apart.
    SmallVector<Value> terms{gradient}, stacked;
    bool hoisted = true;
    for (size_t t = 0; t < terms.size() && hoisted; ++t) {
      if (auto add = terms[t].getDefiningOp<AddOp>();
          add && add.getLhs().getType() == add.getRhs().getType() && add.getType() == gradient.getType()) {
        terms.append({add.getLhs(), add.getRhs()});
        continue;
      }
      size_t first = stacked.size();
      hoisted = hoist(terms[t], stacked, [&](std::function<Value(ValueRange)> combine) {
        sum.terms.push_back({unsigned(outputs.size() + first), std::move(combine)});
      });
      if (hoisted) sum.sizes.push_back(stacked.size() - first);
    }
    if (hoisted) {
      llvm::append_range(outputs, stacked);
    } else {
      sum.terms.clear();
      sum.carriedAt = carried.size();
      carried.push_back(e.add(arguments[firstSum + (operand - inputs - carriedCount)], gradient));
    }
    sums.push_back(std::move(sum));
  }
  return success();
}

LogicalResult ScanVjp::build() {
  runForward();
  // The step is built in a block of its own first: what it yields decides the operands. Every invariant has a sum's
  // argument there; those that are not used are dropped.
  auto holder = std::make_unique<Block>();
  unsigned inputs = scan.getNumInputs(), carriedCount = scan.getNumCarried();
  for (BlockArgument argument : scan.getStep().getArguments().take_front(inputs + carriedCount))
    holder->addArgument(argument.getType(), e.loc);
  SmallVector<Value> over(scan.getInputs()), initial;
  llvm::append_range(over, states);
  for (unsigned i = carriedCount; i < scan.getNumResults(); ++i)
    if (isReal(scan.getResult(i))) {
      holder->addArgument(scan.getStep().getTerminator()->getOperand(i).getType(), e.loc);
      over.push_back(e.cotangent(i));
    }
  for (unsigned i = 0; i < carriedCount; ++i)
    if (isReal(scan.getResult(i))) {
      holder->addArgument(scan.getResult(i).getType(), e.loc);
      initial.push_back(e.cotangent(i));
    }
  unsigned realCarried = initial.size(), firstSum = over.size() + realCarried;
  for (Value invariant : scan.getInvariants()) holder->addArgument(invariant.getType(), e.loc);
  for (Value invariant : scan.getInvariants()) holder->addArgument(invariant.getType(), e.loc);
  if (failed(fillStep(*holder))) return failure();

  // Sums that are carried stay, the others' arguments go.
  llvm::BitVector unused(holder->getNumArguments());
  for (unsigned i = 0; i < scan.getInvariants().size(); ++i) unused.set(firstSum + i);
  for (Sum &sum : sums)
    if (sum.carriedAt >= 0) {
      unused.reset(firstSum + sum.operand - inputs - carriedCount);
      initial.push_back(e.zeros(scan->getOperand(sum.operand).getType()));
    }
  holder->eraseArguments(unused);

  SmallVector<Type> types;
  for (Value value : carried) types.push_back(value.getType());
  for (Value value : outputs) types.push_back(stackedType(value.getType(), steps));
  auto backward =
      ScanOp::create(b, e.loc, types, over, initial, scan.getInvariants(), scan.getSteps(), !scan.getReverse());
  backward.getBody().push_back(holder.release());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&backward.getStep());
    SmallVector<Value> yielded(carried);
    llvm::append_range(yielded, outputs);
    YieldOp::create(b, e.loc, yielded);
  }

  auto output = [&](unsigned i) { return backward.getResult(carried.size() + i); };
  for (auto [operand, place] : inputGradients) e.give(operand, output(place));
  unsigned next = 0;
  for (unsigned i = 0; i < carriedCount; ++i)
    if (isReal(scan.getInitial()[i])) e.give(inputs + i, backward.getResult(next++));
  for (Sum &sum : sums) {
    Value gradient = sum.carriedAt >= 0 ? backward.getResult(sum.carriedAt) : Value();
    for (auto [term, size] : llvm::zip(sum.terms, sum.sizes)) {
      SmallVector<Value> stacks;
      for (unsigned i = 0; i < size; ++i) stacks.push_back(output(term.first + i));
      Value value = term.second(stacks);
      gradient = gradient ? e.add(gradient, value) : value;
    }
    e.give(sum.operand, gradient);
  }
  return success();
}

LogicalResult ScanOp::buildVjp(VjpExpression &e) { return ScanVjp(*this, e).build(); }

} // namespace sprig::ir
