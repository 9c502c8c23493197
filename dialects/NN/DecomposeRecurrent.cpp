// Decompositions of recurrent layers: the products of all inputs in one contraction, then a scan over time.
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNYield.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/Recurrent.h"

using namespace mlir;

namespace sprig::ir {

namespace {

Value activate(Expression &e, const RecurrentActivation &a, Value x) {
  auto number = [&](double value) { return e.splat(x, value); };
  auto real = [&](double value) { return e.b.getF64FloatAttr(value); };
  switch (a.function) {
  case RecurrentFunction::sigmoid: return e.unary<SigmoidOp>(x);
  case RecurrentFunction::tanh: return e.unary<TanhOp>(x);
  case RecurrentFunction::relu: return e.unary<ReluOp>(x);
  case RecurrentFunction::affine: return e.add(e.mul(x, number(a.alpha)), number(a.beta));
  case RecurrentFunction::leakyRelu: return LeakyReluOp::create(e.b, e.loc, x, real(a.alpha));
  case RecurrentFunction::elu: return EluOp::create(e.b, e.loc, x, real(a.alpha));
  case RecurrentFunction::hardSigmoid: return HardSigmoidOp::create(e.b, e.loc, x, real(a.alpha), real(a.beta));
  case RecurrentFunction::scaledTanh: return e.mul(e.unary<TanhOp>(e.mul(x, number(a.beta))), number(a.alpha));
  case RecurrentFunction::softsign: return e.unary<SoftsignOp>(x);
  case RecurrentFunction::softplus: return e.unary<SoftplusOp>(x);
  case RecurrentFunction::thresholdedRelu:
    return e.select(e.compare(ComparePredicate::gt, x, number(a.alpha)), x, number(0));
  }
  return x;
}

/// `size` elements from `start` on along an axis.
Value part(Expression &e, Value x, int64_t axis, int64_t start, int64_t size) {
  ArrayRef<int64_t> shape = Expression::typeOf(x).getShape();
  if (start == 0 && size == shape[axis]) return x;
  // Of what is joined of parts, which biases of their own are, the part.
  if (auto concat = x.getDefiningOp<ConcatOp>(); concat && int64_t(concat.getAxis()) == axis)
    for (int64_t at = 0; Value each : concat.getOperands()) {
      int64_t own = Expression::typeOf(each).getDimSize(axis);
      if (at == start && own == size) return each;
      at += own;
    }
  SmallVector<int64_t> starts(shape.size(), 0), sizes(shape), steps(shape.size(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  return SliceOp::create(e.b, e.loc, x, starts, sizes, steps);
}

/// A layer whose scan is being built. Operands of the scan are collected first (`with`), then used in its region.
template <typename OpT> class LayerBuilder {
public:
  LayerBuilder(OpT op, OpBuilder &b, ArrayRef<RecurrentFunction> defaults)
      : op(op), outer(b, op.getLoc()), hidden(op.getRecurrence().getType().getDimSize(1)),
        width(op.getRecurrence().getType().getDimSize(0)), batch(op.getInput().getType().getDimSize(1)),
        steps(op.getInput().getType().getDimSize(0)), activations(recurrentActivations(op, defaults)) {
    Value products = outer.matmul(op.getInput(), op.getWeight(), /*transposeRhs=*/true);
    if (op.getBias()) products = outer.add(products, part(outer, op.getBias(), 0, 0, width));
    inputs.push_back(products);
    if (!op.getLengths()) return;
    Type count = op.getLengths().getType().getElementType();
    inputs.push_back(IotaOp::create(b, op.getLoc(), RankedTensorType::get({steps, 1, 1}, count), 0));
    lengths = with(outer.reshape(op.getLengths(), {batch, 1}));
  }

  /// Makes a value known to the region; the handle is for `value`.
  unsigned with(Value v) {
    invariants.push_back(v);
    return invariants.size() - 1;
  }
  /// Rows [start, start + size) of the recurrence.
  unsigned recurrence(int64_t start, int64_t size) { return with(part(outer, op.getRecurrence(), 0, start, size)); }
  /// The same elements of the recurrent bias.
  std::optional<unsigned> bias(int64_t start, int64_t size) {
    if (!op.getBias()) return std::nullopt;
    return with(part(outer, op.getBias(), 0, width + start, size));
  }

  // In the region.
  Value value(unsigned handle) { return scan.getInvariantArguments()[handle]; }
  Value products(int64_t start, int64_t size) { return part(*inner, scan.getInputArguments()[0], 1, start, size); }
  Value state(unsigned i) { return scan.getCarriedArguments()[i]; }
  Value recurrentProduct(Value x, unsigned matrix, std::optional<unsigned> added) {
    Value product = inner->matmul(x, value(matrix), /*transposeRhs=*/true);
    return added ? inner->add(product, value(*added)) : product;
  }
  /// An activation of a clipped argument.
  Value activated(unsigned function, Value x) {
    if (op.getClip()) {
      double clip = op.getClip()->convertToDouble();
      x = inner->binary<MinOp>(inner->binary<MaxOp>(x, inner->splat(x, -clip)), inner->splat(x, clip));
    }
    return activate(*inner, activations[function], x);
  }
  Value onlyActivated(unsigned function, Value x) { return activate(*inner, activations[function], x); }
  Value oneMinus(Value x) { return inner->sub(inner->splat(x, 1), x); }

  /// `cell` gives the next states, the first of which is the output.
  FailureOr<SmallVector<Value>> build(ValueRange initial, llvm::function_ref<SmallVector<Value>(Expression &)> cell) {
    auto state = RankedTensorType::get({batch, hidden}, op.getInput().getType().getElementType());
    SmallVector<Type> types(initial.size(), state);
    types.push_back(RankedTensorType::get({steps, batch, hidden}, state.getElementType()));
    scan = ScanOp::create(outer.b, op.getLoc(), types, inputs, initial, invariants, steps, op.getReverse());
    OpBuilder::InsertionGuard guard(outer.b);
    Block *block = outer.b.createBlock(&scan.getBody());
    for (auto [i, operand] : llvm::enumerate(scan.getOperands())) {
      auto type = cast<RankedTensorType>(operand.getType());
      if (i < inputs.size()) type = RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
      block->addArgument(type, op.getLoc());
    }
    inner.emplace(outer.b, op.getLoc());
    SmallVector<Value> next = cell(*inner);
    Value shown = next[0];
    if (lengths) { // a row whose sequence has ended keeps its state and puts out zeros
      Value running = inner->compare(ComparePredicate::lt, scan.getInputArguments()[1], value(*lengths));
      for (auto [i, each] : llvm::enumerate(next)) each = inner->select(running, each, this->state(i));
      shown = inner->select(running, shown, inner->splat(shown, 0));
    }
    next.push_back(shown);
    YieldOp::create(outer.b, op.getLoc(), next);
    SmallVector<Value> results{scan.getResults().back()};
    llvm::append_range(results, scan.getResults().drop_back());
    return results;
  }

  OpT op;
  Expression outer;
  std::optional<Expression> inner;
  int64_t hidden, width, batch, steps;
  SmallVector<RecurrentActivation> activations;
  SmallVector<Value> inputs, invariants;
  std::optional<unsigned> lengths;
  ScanOp scan;
};

} // namespace

FailureOr<SmallVector<Value>> RnnOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, {RecurrentFunction::tanh});
  unsigned matrix = layer.recurrence(0, layer.hidden);
  auto bias = layer.bias(0, layer.hidden);
  return layer.build(getInitialH(), [&](Expression &e) -> SmallVector<Value> {
    Value sum = e.add(layer.products(0, layer.hidden), layer.recurrentProduct(layer.state(0), matrix, bias));
    return {layer.activated(0, sum)};
  });
}

FailureOr<SmallVector<Value>> GruOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, {RecurrentFunction::sigmoid, RecurrentFunction::tanh});
  int64_t h = layer.hidden, z = gateBlock(*this, 0) * h, r = gateBlock(*this, 1) * h, n = gateBlock(*this, 2) * h;
  // What reads the state as it is shares a product.
  int64_t start = getLinearBeforeReset() ? 0 : std::min(z, r), size = getLinearBeforeReset() ? 3 * h : 2 * h;
  unsigned matrix = layer.recurrence(start, size), candidateMatrix = 0;
  auto bias = layer.bias(start, size), candidateBias = bias;
  if (!getLinearBeforeReset()) {
    candidateMatrix = layer.recurrence(n, h);
    candidateBias = layer.bias(n, h);
  }
  return layer.build(getInitialH(), [&](Expression &e) -> SmallVector<Value> {
    Value state = layer.state(0), fromState = layer.recurrentProduct(state, matrix, bias);
    auto ofState = [&](int64_t block) { return part(e, fromState, 1, block - start, h); };
    auto gate = [&](int64_t block) { return layer.activated(0, e.add(layer.products(block, h), ofState(block))); };
    Value update = gate(z), reset = gate(r);
    Value recurrent = getLinearBeforeReset()
                          ? e.mul(reset, ofState(n))
                          : layer.recurrentProduct(e.mul(reset, state), candidateMatrix, candidateBias);
    Value candidate = layer.activated(1, e.add(layer.products(n, h), recurrent));
    return {e.add(e.mul(layer.oneMinus(update), candidate), e.mul(update, state))};
  });
}

FailureOr<SmallVector<Value>> LstmOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, {RecurrentFunction::sigmoid, RecurrentFunction::tanh, RecurrentFunction::tanh});
  int64_t h = layer.hidden;
  unsigned matrix = layer.recurrence(0, 4 * h);
  auto bias = layer.bias(0, 4 * h);
  SmallVector<unsigned> peepholes; // input, output, forget
  if (getPeephole())
    for (int64_t gate = 0; gate < 3; ++gate)
      peepholes.push_back(layer.with(part(layer.outer, getPeephole(), 0, gate * h, h)));
  return layer.build({getInitialH(), getInitialC()}, [&](Expression &e) -> SmallVector<Value> {
    Value before = layer.state(1);
    Value sums = e.add(layer.products(0, 4 * h), layer.recurrentProduct(layer.state(0), matrix, bias));
    auto gate = [&](unsigned function, int64_t g, Value seen) {
      Value sum = part(e, sums, 1, gateBlock(*this, g) * h, h);
      if (seen && !peepholes.empty()) sum = e.add(sum, e.mul(layer.value(peepholes[g]), seen));
      return layer.activated(function, sum);
    };
    Value input = gate(0, 0, before);
    Value forget = getInputForget() ? layer.oneMinus(input) : gate(0, 2, before);
    Value cell = e.add(e.mul(forget, before), e.mul(input, gate(1, 3, {})));
    Value output = gate(0, 1, cell);
    return {e.mul(output, layer.onlyActivated(2, cell)), cell};
  });
}

// A fused multiply-add counts as two; the activations are small beside the products.
template <typename OpT> static int64_t layerFlops(OpT op) {
  int64_t rows = op.getInput().getType().getDimSize(0) * op.getInput().getType().getDimSize(1);
  return 2 * rows * (op.getWeight().getType().getNumElements() + op.getRecurrence().getType().getNumElements());
}
int64_t RnnOp::getFlops() { return layerFlops(*this); }
int64_t GruOp::getFlops() { return layerFlops(*this); }
int64_t LstmOp::getFlops() { return layerFlops(*this); }

} // namespace sprig::ir
