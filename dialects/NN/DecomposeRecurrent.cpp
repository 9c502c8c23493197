// Decompositions of recurrent layers: the products of all inputs in one contraction, then a scan over time.
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/IntegerProducts.h"
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
      : op(op), outer(b, op.getLoc()), hidden(op.getInitialH().getType().getDimSize(1)),
        width(*llvm::max_element(op.getRecurrence().getType().getShape())),
        batch(op.getInput().getType().getDimSize(1)), steps(op.getInput().getType().getDimSize(0)),
        isReversed(op.getReverse()), activations(recurrentActivations(op, defaults)) {}

  /// What the inputs of all steps add to the gates, before anything else.
  void takeProducts(Value products) {
    inputs.push_back(products);
    if (!op.getLengths()) return;
    inputs.push_back(places());
    lengths = with(outer.reshape(op.getLengths(), {batch, 1}));
  }
  void takeProducts() {
    Value products = outer.matmul(op.getInput(), op.getWeight(), /*transposeRhs=*/true);
    if (op.getBias()) products = outer.add(products, part(outer, op.getBias(), 0, 0, width));
    takeProducts(products);
  }
  /// The number of each step, of a layer with lengths.
  Value places() {
    Type count = op.getLengths().getType().getElementType();
    return IotaOp::create(outer.b, op.getLoc(), RankedTensorType::get({steps, 1, 1}, count), 0);
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
  /// The number of the step and how many each row has, of a layer with lengths.
  Value place() { return scan.getInputArguments()[1]; }
  Value length() { return value(*lengths); }
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
    scan = ScanOp::create(outer.b, op.getLoc(), types, inputs, initial, invariants, steps, isReversed);
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
      Value running = inner->compare(ComparePredicate::lt, place(), length());
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
  bool isReversed;
  SmallVector<RecurrentActivation> activations;
  SmallVector<Value> inputs, invariants;
  std::optional<unsigned> lengths;
  ScanOp scan;
};

} // namespace

FailureOr<SmallVector<Value>> RnnOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, {RecurrentFunction::tanh});
  layer.takeProducts();
  unsigned matrix = layer.recurrence(0, layer.hidden);
  auto bias = layer.bias(0, layer.hidden);
  return layer.build(getInitialH(), [&](Expression &e) -> SmallVector<Value> {
    Value sum = e.add(layer.products(0, layer.hidden), layer.recurrentProduct(layer.state(0), matrix, bias));
    return {layer.activated(0, sum)};
  });
}

FailureOr<SmallVector<Value>> GruOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, {RecurrentFunction::sigmoid, RecurrentFunction::tanh});
  layer.takeProducts();
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

/// A long short-term memory; `sumsOfState` gives what the state adds to the gates, `bias` is added behind all else.
template <typename OpT>
static FailureOr<SmallVector<Value>> buildLstm(LayerBuilder<OpT> &layer, std::optional<unsigned> bias,
                                               llvm::function_ref<Value(Expression &)> sumsOfState) {
  OpT op = layer.op;
  int64_t h = layer.hidden;
  SmallVector<unsigned> peepholes; // input, output, forget
  if (op.getPeephole())
    for (int64_t gate = 0; gate < 3; ++gate)
      peepholes.push_back(layer.with(part(layer.outer, op.getPeephole(), 0, gate * h, h)));
  return layer.build({op.getInitialH(), op.getInitialC()}, [&](Expression &e) -> SmallVector<Value> {
    Value before = layer.state(1);
    Value sums = e.add(layer.products(0, 4 * h), sumsOfState(e));
    auto gate = [&](unsigned function, int64_t g, Value seen) {
      int64_t block = gateBlock(op, g) * h;
      Value sum = part(e, sums, 1, block, h);
      if (seen && !peepholes.empty()) sum = e.add(sum, e.mul(layer.value(peepholes[g]), seen));
      if (bias) sum = e.add(sum, part(e, layer.value(*bias), 0, block, h));
      return layer.activated(function, sum);
    };
    Value input = gate(0, 0, before);
    Value forget = op.getInputForget() ? layer.oneMinus(input) : gate(0, 2, before);
    Value cell = e.add(e.mul(forget, before), e.mul(input, gate(1, 3, {})));
    Value output = gate(0, 1, cell);
    return {e.mul(output, layer.onlyActivated(2, cell)), cell};
  });
}

static constexpr RecurrentFunction kLstmFunctions[] = {RecurrentFunction::sigmoid, RecurrentFunction::tanh,
                                                       RecurrentFunction::tanh};

FailureOr<SmallVector<Value>> LstmOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, kLstmFunctions);
  layer.takeProducts();
  unsigned matrix = layer.recurrence(0, layer.width);
  auto bias = layer.bias(0, layer.width);
  return buildLstm(layer, std::nullopt,
                   [&](Expression &) { return layer.recurrentProduct(layer.state(0), matrix, bias); });
}

namespace {
/// A weight of bytes for products with tensors that are rounded by their range: in integers where it is a constant,
/// else in floats on the same numbers.
struct ByteFactor {
  IntegerWeight weight;
  Value sums, scale; // of columns
  Value floats;      // w - zero, where it is no constant

  static ByteFactor of(Expression &e, Value matrix, Value scale, Value zero) {
    ByteFactor made;
    made.scale = scale;
    made.weight = integerWeight(e, matrix, zero, /*isTransposed=*/false);
    if (made.weight.bytes)
      made.sums = columnSums(e, made.weight.bytes, /*isTransposed=*/false);
    else
      made.floats = e.sub(e.cast(matrix, e.b.getF32Type()), e.cast(zero, e.b.getF32Type()));
    return made;
  }
  /// Calls `move` for each value that there is.
  void move(llvm::function_ref<void(Value &)> move) {
    for (Value *value : {&weight.bytes, &weight.rest, &sums, &scale, &floats})
      if (*value) move(*value);
  }
  /// x times the weight.
  Value multiply(Expression &e, Value x) const {
    DynamicBytes left = quantizeByRange(e, x);
    Type f32 = e.b.getF32Type();
    Value product;
    if (floats)
      product = e.matmul(e.sub(e.cast(left.bytes, f32), e.cast(left.zero, f32)), floats, /*transposeRhs=*/false);
    else
      product = e.cast(multiplyBytes(
                           e, left.bytes, e.cast(left.zero, e.b.getI32Type()), weight, [&] { return sums; },
                           /*isTransposed=*/false),
                       f32);
    return e.mul(product, e.mul(left.divisor, scale));
  }
};
} // namespace

/// Where each row finds its steps when it goes from its own last one to the first, as indices of steps times rows: what
/// lies behind its end stays there, so that the same indices lead back.
static Value turnedPlaces(Expression &e, Value lengths, int64_t steps, int64_t batch) {
  auto places = [&](int64_t rows, int64_t columns, int64_t axis) -> Value {
    return IotaOp::create(e.b, e.loc, RankedTensorType::get({rows, columns}, e.b.getI64Type()), axis);
  };
  Value step = places(steps, 1, 0), ends = e.reshape(e.cast(lengths, e.b.getI64Type()), {1, batch});
  ends = e.binary<MinOp>(ends, e.splat(ends, double(steps)));
  Value turned = e.sub(e.sub(ends, e.splat(ends, 1)), step);
  turned = e.select(e.compare(ComparePredicate::lt, step, ends), turned, step);
  return e.add(e.mul(turned, e.splat(turned, double(batch))), places(1, batch, 1));
}

FailureOr<SmallVector<Value>> LstmIntegerOp::decompose(OpBuilder &b) {
  LayerBuilder layer(*this, b, kLstmFunctions);
  Expression &outer = layer.outer;
  Value input = getInput(), turned;
  if (getLengths()) { // steps behind the end of all rows do not count
    Value longest = outer.reduce(ReduceKind::max, getLengths(), ArrayRef<int64_t>{0}, /*keepDims=*/true);
    Value isThere = outer.compare(ComparePredicate::lt, layer.places(), longest);
    input = outer.select(isThere, input, outer.splat(input, 0));
  }
  // Rows that share a range take their steps together, each from its first.
  bool rowsMeet = getLengths() && layer.batch > 1;
  auto atPlaces = [&](Value x) -> Value {
    int64_t columns = Expression::typeOf(x).getDimSize(2);
    return GatherOp::create(b, getLoc(), outer.reshape(x, {layer.steps * layer.batch, columns}), turned, 0);
  };
  Value products = ByteFactor::of(outer, getWeight(), getWeightScale(), getWeightZero()).multiply(outer, input);
  if (rowsMeet && getReverse()) {
    turned = turnedPlaces(outer, getLengths(), layer.steps, layer.batch);
    products = atPlaces(products);
    layer.isReversed = false;
  }
  layer.takeProducts(products);
  ByteFactor recurrence = ByteFactor::of(outer, getRecurrence(), getRecurrenceScale(), getRecurrenceZero());
  SmallVector<unsigned> handles;
  recurrence.move([&](Value &value) { handles.push_back(layer.with(value)); });
  std::optional<unsigned> bias;
  if (getBias())
    bias = layer.with(
        outer.add(part(outer, getBias(), 0, 0, layer.width), part(outer, getBias(), 0, layer.width, layer.width)));
  auto results = buildLstm(layer, bias, [&](Expression &e) {
    ByteFactor inside = recurrence;
    inside.move([&, next = handles.begin()](Value &value) mutable { value = layer.value(*next++); });
    Value state = layer.state(0);
    if (rowsMeet) { // a row counts as long as its last output is not behind its end
      Value counts = e.compare(ComparePredicate::le, layer.place(), layer.length());
      state = e.select(counts, state, e.splat(state, 0));
    }
    return inside.multiply(e, state);
  });
  if (succeeded(results) && turned) results->front() = atPlaces(results->front());
  return results;
}

// A fused multiply-add counts as two; the activations are small beside the products.
template <typename OpT> static int64_t layerFlops(OpT op) {
  int64_t rows = op.getInput().getType().getDimSize(0) * op.getInput().getType().getDimSize(1);
  return 2 * rows * (op.getWeight().getType().getNumElements() + op.getRecurrence().getType().getNumElements());
}
int64_t RnnOp::getFlops() { return layerFlops(*this); }
int64_t GruOp::getFlops() { return layerFlops(*this); }
int64_t LstmOp::getFlops() { return layerFlops(*this); }
int64_t LstmIntegerOp::getFlops() { return layerFlops(*this); }

} // namespace sprig::ir
