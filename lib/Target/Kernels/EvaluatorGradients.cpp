// Gradients of windows, element by element: any shape and layout, in the order of sums that the operations state.
#include "lib/Target/Kernels/Evaluator.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/Kernels/ElementBuilder.h"

using namespace mlir;
using namespace sprig;

// The carried value where the condition does not hold, what `then` makes of it where it does.
static SmallVector<Value> carryIf(ElementBuilder &k, Value condition, ValueRange carried,
                                  llvm::function_ref<SmallVector<Value>()> then) {
  auto choice = scf::IfOp::create(k.b, k.loc, carried.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(k.b, k.loc, then());
  k.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(k.b, k.loc, carried);
  return SmallVector<Value>(choice.getResults());
}

// A chain over samples and positions, in the parts that a long matrix product has.
Value Evaluator::convFilterGrad(ir::ConvFilterGradOp op, ArrayRef<Coordinate> position) {
  bool last = op.getChannelsLast();
  ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getCotangent()), filter = shapeOf(op.getResult());
  size_t first = last ? 1 : 2, channel = last ? in.size() - 1 : 1, dims = in.size() - 2;
  int64_t outPerGroup = std::max<int64_t>(1, filter[0] / std::max<int64_t>(1, op.getGroups()));
  Type elementType = elementOf(op.getResult()), type = computeType(elementType);
  SmallVector<int64_t> space{out[0]};
  llvm::append_range(space, out.slice(first, dims));
  int64_t count = 1;
  for (int64_t size : space) count *= size;
  Value output = position[0].base;
  Value input = k.add(k.mul(k.div(output, outPerGroup), filter[1]), position[1].base);

  auto step = [&](Value index, ValueRange carried) {
    SmallVector<Value> at_ = k.delinearize(index, space), places;
    Value inside;
    for (size_t d = 0; d < dims; ++d) {
      Value tap = k.mul(position[2 + d].base, op.getDilations()[d]);
      Value place = k.sub(k.add(k.mul(at_[1 + d], op.getStrides()[d]), tap), k.index(op.getPadding()[d]));
      Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, place, k.index(in[first + d]));
      inside = inside ? Value(arith::AndIOp::create(k.b, k.loc, inside, here)) : here;
      places.push_back(place);
    }
    return carryIf(k, inside, carried, [&]() -> SmallVector<Value> {
      Scope scope(*this);
      Position source(in.size()), cotangent(in.size());
      source[0] = cotangent[0] = {at_[0], 0};
      source[channel] = {input, 0};
      cotangent[channel] = {output, 0};
      for (size_t d = 0; d < dims; ++d) {
        source[first + d] = {places[d], 0};
        cotangent[first + d] = {at_[1 + d], 0};
      }
      return {k.multiplyAdd(at(op.getInput(), source), at(op.getCotangent(), cotangent), carried[0])};
    });
  };
  auto chain = [&](Value begin, Value end) { return k.loop(begin, end, 1, k.zero(type), step)[0]; };
  if (count <= kLongestChain || !isa<FloatType>(type)) return k.round(chain(k.index(0), k.index(count)), elementType);
  Value total = k.loop(k.index(0), k.index(count), kChainPart, k.zero(type),
                       [&](Value begin, ValueRange sum) -> SmallVector<Value> {
                         Value part = chain(begin, k.min(k.add(begin, kChainPart), k.index(count)));
                         return {arith::AddFOp::create(k.b, k.loc, sum[0], part)};
                       })[0];
  return k.round(total, elementType);
}

// The windows that an element lies in, in row-major order; of each, whether the element is its first maximum.
Value Evaluator::poolGrad(ir::PoolGradOp op, ArrayRef<Coordinate> position) {
  size_t first = op.getChannelsLast() ? 1 : 2, dims = op.getWindow().size();
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), outputs = shapeOf(op.getCotangent());
  Window window{op.getWindow(),  op.getStrides(),          op.getDilations(),
                op.getPadding(), sizes.slice(first, dims), outputs.slice(first, dims)};
  Type elementType = elementOf(op.getOperand()), type = computeType(elementType);
  bool isVector = anyStep(position);
  auto lanesOf = [&](Value value) { return isVector ? asVector(value) : value; };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
  };

  auto contribution = [&](ArrayRef<Value> place, ValueRange sum) -> SmallVector<Value> {
    Scope scope(*this);
    Position cotangent(position), outer(position);
    for (size_t d = 0; d < dims; ++d) cotangent[first + d] = {place[d], 0};
    Value g = lanesOf(at(op.getCotangent(), cotangent));
    if (op.getKind() == ir::ReduceKind::max) {
      Value none = arith::ConstantIntOp::create(k.b, k.loc, 0, 1),
            open = arith::ConstantIntOp::create(k.b, k.loc, 1, 1);
      // The best so far, whether it is the element, whether there is none.
      SmallVector<Value> start{lanesOf(k.zero(type)), lanesOf(none), open};
      Value isFirst = windowLoop(
          window, ArrayRef<Coordinate>(cotangent).slice(first, dims), start,
          [&](ValueRange, ValueRange places, ValueRange carried) -> SmallVector<Value> {
            Position source(position);
            Value here;
            for (size_t d = 0; d < dims; ++d) {
              source[first + d] = {places[d], 0};
              Value same = compare(arith::CmpIPredicate::eq, places[d], position[first + d].base);
              here = here ? Value(arith::AndIOp::create(k.b, k.loc, here, same)) : same;
            }
            Value element = lanesOf(at(op.getOperand(), source));
            Value better = arith::OrIOp::create(
                k.b, k.loc, precedes(k, elementType, /*largest=*/true, element, carried[0]), lanesOf(carried[2]));
            return {arith::SelectOp::create(k.b, k.loc, better, element, carried[0]),
                    arith::SelectOp::create(k.b, k.loc, better, lanesOf(here), carried[1]), none};
          })[1];
      g = arith::SelectOp::create(k.b, k.loc, isFirst, g, lanesOf(k.zero(type)));
    }
    return {arith::AddFOp::create(k.b, k.loc, sum[0], g)};
  };
  // Taps downwards are windows upwards.
  std::function<SmallVector<Value>(SmallVector<Value>, ValueRange)> over = [&](SmallVector<Value> place,
                                                                               ValueRange sum) -> SmallVector<Value> {
    size_t d = place.size();
    if (d == dims) return contribution(place, sum);
    int64_t taps = window.sizes[d], stride = window.strides[d];
    return k.loop(k.index(0), k.index(taps), 1, sum, [&](Value i, ValueRange carried) -> SmallVector<Value> {
      Value tap = k.sub(k.index(taps - 1), i);
      Value distance = k.sub(k.add(position[first + d].base, window.padding[d]), k.mul(tap, window.dilations[d]));
      Value index = arith::DivSIOp::create(k.b, k.loc, distance, k.index(stride));
      Value exists = arith::AndIOp::create(k.b, k.loc, compare(arith::CmpIPredicate::sge, distance, zero),
                                           compare(arith::CmpIPredicate::eq, k.mul(index, stride), distance));
      exists = arith::AndIOp::create(k.b, k.loc, exists,
                                     compare(arith::CmpIPredicate::slt, index, k.index(window.outputs[d])));
      return carryIf(k, exists, carried, [&] {
        SmallVector<Value> next(place);
        next.push_back(index);
        return over(next, carried);
      });
    });
  };
  return k.round(over({}, lanesOf(k.zero(type)))[0], elementType);
}
