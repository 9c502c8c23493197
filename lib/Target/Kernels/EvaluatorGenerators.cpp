// Operations whose elements are computed by a loop or a look-up of their own.
#include "lib/Target/Kernels/Evaluator.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/SumOrder.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;

Value Evaluator::generator(Operation *op, ArrayRef<Coordinate> position) {
  if (auto pool = dyn_cast<ir::PoolOp>(op)) return this->pool(pool, position);
  if (auto pad = dyn_cast<ir::PadOp>(op)) return this->pad(pad, position);
  if (auto gather = dyn_cast<ir::GatherOp>(op)) return this->gather(gather, position);
  if (auto gather = dyn_cast<ir::GatherElementsOp>(op)) return gatherElements(gather, position);
  if (auto gather = dyn_cast<ir::GatherNdOp>(op)) return gatherNd(gather, position);
  if (auto matmul = dyn_cast<ir::MatmulOp>(op)) return this->matmul(matmul, position);
  if (auto conv = dyn_cast<ir::ConvOp>(op)) return this->conv(conv, position);
  if (auto gradient = dyn_cast<ir::ConvFilterGradOp>(op)) return convFilterGrad(gradient, position);
  if (auto gradient = dyn_cast<ir::PoolGradOp>(op)) return poolGrad(gradient, position);
  return convTranspose(cast<ir::ConvTransposeOp>(op), position);
}

Value sprig::checkedIndex(ElementBuilder &k, Operation *op, Value index, int64_t size) {
  OpBuilder &b = k.b;
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, k.loc, value, 64); };
  Value wide = index.getType().isInteger(64) ? index : Value(arith::ExtSIOp::create(b, k.loc, b.getI64Type(), index));
  Value negative = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::slt, wide, constant(0));
  Value fromEnd = arith::AddIOp::create(b, k.loc, wide, constant(size));
  Value position = arith::SelectOp::create(b, k.loc, negative, fromEnd, wide);
  Value outside = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::uge, position, constant(size));
  k.reportIf(outside, SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE, operationNumber(op), wide, constant(size));
  position = arith::SelectOp::create(b, k.loc, outside, constant(0), position);
  return arith::IndexCastOp::create(b, k.loc, b.getIndexType(), position);
}

Value Evaluator::gather(ir::GatherOp op, ArrayRef<Coordinate> position) {
  size_t axis = op.getAxis(), count = shapeOf(op.getIndices()).size();
  ArrayRef<Coordinate> at_ = position.slice(axis, count);
  if (anyStep(at_)) return perLane(position, [&](ArrayRef<Coordinate> one) { return gather(op, one); });
  if (shapeOf(op.getOperand())[axis] == 0)
    return emptyElement(op, shapeOf(op.getOperand())[axis], at(op.getIndices(), at_));
  Value index = checkedIndex(k, op, at(op.getIndices(), at_), shapeOf(op.getOperand())[axis]);
  Position source(position.take_front(axis));
  source.push_back({index, 0});
  source.append(position.begin() + axis + count, position.end());
  return at(op.getOperand(), source);
}

Value Evaluator::gatherElements(ir::GatherElementsOp op, ArrayRef<Coordinate> position) {
  if (anyStep(position)) return perLane(position, [&](ArrayRef<Coordinate> one) { return gatherElements(op, one); });
  size_t axis = op.getAxis();
  int64_t size = shapeOf(op.getOperand())[axis];
  Value index = at(op.getIndices(), position);
  if (size == 0) return emptyElement(op, size, index);
  Position source(position);
  source[axis] = {checkedIndex(k, op, index, size), 0};
  return at(op.getOperand(), source);
}

Value Evaluator::gatherNd(ir::GatherNdOp op, ArrayRef<Coordinate> position) {
  ArrayRef<int64_t> indexShape = shapeOf(op.getIndices()), sizes = shapeOf(op.getOperand());
  size_t tuples = indexShape.size() - 1, batch = op.getBatchDims();
  if (anyStep(position.take_front(tuples)))
    return perLane(position, [&](ArrayRef<Coordinate> one) { return gatherNd(op, one); });
  Position source(position.take_front(batch)), tuple(position.take_front(tuples));
  tuple.push_back({});
  for (int64_t i = 0; i < indexShape.back(); ++i) {
    tuple.back() = {k.index(i), 0};
    Value index = at(op.getIndices(), tuple);
    if (sizes[batch + i] == 0) return emptyElement(op, 0, index);
    source.push_back({checkedIndex(k, op, index, sizes[batch + i]), 0});
  }
  source.append(position.begin() + tuples, position.end());
  return at(op.getOperand(), source);
}

// An element out of a dimension without elements: an error whatever the index.
Value Evaluator::emptyElement(Operation *op, int64_t size, Value index) {
  checkedIndex(k, op, index, size);
  return k.zero(computeType(elementOf(op->getResult(0))));
}

Value Evaluator::pad(ir::PadOp op, ArrayRef<Coordinate> position) {
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand());
  Position source(position);
  Value inside;
  for (size_t d = 0; d < position.size(); ++d) {
    if (!op.getLow()[d] && !op.getHigh()[d]) continue;
    Value size = k.index(sizes[d]), last = k.index(sizes[d] - 1);
    Value i = k.sub(position[d].base, k.index(op.getLow()[d]));
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
    };
    switch (op.getMode()) {
    case ir::PadMode::constant: {
      Value here = compare(arith::CmpIPredicate::ult, i, size);
      inside = inside ? Value(arith::AndIOp::create(k.b, k.loc, inside, here)) : here;
      break;
    }
    case ir::PadMode::edge: i = k.min(k.max(i, zero), last); break;
    case ir::PadMode::wrap: i = positiveRemainder(i, sizes[d]); break;
    case ir::PadMode::reflect: {
      // Back and forth over the elements with a period of 2 (size - 1).
      i = positiveRemainder(i, std::max<int64_t>(1, 2 * (sizes[d] - 1)));
      Value mirrored = k.sub(k.index(2 * (sizes[d] - 1)), i);
      i = arith::SelectOp::create(k.b, k.loc, compare(arith::CmpIPredicate::slt, i, size), i, mirrored);
      break;
    }
    }
    source[d] = {i, 0};
  }
  if (!inside) return at(op.getOperand(), source);
  Position one(shapeOf(op.getValue()).size(), Coordinate{zero, 0});
  Value fill = at(op.getValue(), one);
  bool vector = anyStep(position);
  if (vector) fill = asVector(fill);
  auto choice = scf::IfOp::create(k.b, k.loc, fill.getType(), inside, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(k.b);
    Scope scope(*this);
    k.b.setInsertionPointToStart(choice.thenBlock());
    Value element = at(op.getOperand(), source);
    scf::YieldOp::create(k.b, k.loc, vector ? asVector(element) : element);
    k.b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(k.b, k.loc, fill);
  }
  return choice.getResult(0);
}

Value Evaluator::positiveRemainder(Value value, int64_t size) {
  Value divisor = k.index(size);
  Value rest = arith::RemSIOp::create(k.b, k.loc, value, divisor);
  Value negative = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, rest, zero);
  return arith::SelectOp::create(k.b, k.loc, negative, k.add(rest, size), rest);
}

// The taps of a window that lie in the operand, in row-major order, with accumulators carried along.
SmallVector<Value> Evaluator::windowLoop(const Window &window, ArrayRef<Coordinate> outputs, ValueRange initial,
                                         WindowBody body, size_t dim, SmallVector<Value> taps,
                                         SmallVector<Value> places) {
  if (dim == window.sizes.size()) {
    Scope scope(*this);
    return body(taps, places, initial);
  }
  int64_t dilation = window.dilations[dim], low = window.padding[dim], size = window.inputs[dim];
  Value origin = k.sub(k.mul(outputs[dim].base, window.strides[dim]), k.index(low));
  // Taps t with 0 <= origin + t * dilation < size.
  Value first = k.index(0), end = k.index(window.sizes[dim]);
  if (low > 0) {
    Value before = k.max(k.sub(k.index(0), origin), k.index(0));
    first = k.min(k.div(k.add(before, dilation - 1), dilation), end);
  }
  int64_t outputCount = window.outputs[dim];
  if ((outputCount - 1) * window.strides[dim] - low + (window.sizes[dim] - 1) * dilation >= size) {
    Value room = k.max(k.sub(k.index(size + dilation - 1), origin), k.index(0));
    end = k.min(k.div(room, dilation), end);
    end = k.max(end, first);
  }
  auto atTap = [&](Value tap, ValueRange carried) {
    SmallVector<Value> nextTaps(taps), nextPlaces(places);
    nextTaps.push_back(tap);
    nextPlaces.push_back(k.add(origin, k.mul(tap, dilation)));
    return windowLoop(window, outputs, carried, body, dim + 1, nextTaps, nextPlaces);
  };
  // Taps that are all there are written out where they are few: a loop costs more than its body.
  constexpr int64_t kMostUnrolledTaps = 3;
  std::optional<int64_t> begin = getConstantIntValue(OpFoldResult(first)),
                         count = getConstantIntValue(OpFoldResult(end));
  if (!begin || !count || *count - *begin > kMostUnrolledTaps) return k.loop(first, end, 1, initial, atTap);
  SmallVector<Value> values(initial);
  for (int64_t tap = *begin; tap < *count; ++tap) values = atTap(k.index(tap), values);
  return values;
}

Value Evaluator::pool(ir::PoolOp op, ArrayRef<Coordinate> position) {
  size_t first = op.getChannelsLast() ? 1 : 2, dims = op.getWindow().size();
  ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), outputs = shapeOf(op.getResult());
  Window window{op.getWindow(),  op.getStrides(),          op.getDilations(),
                op.getPadding(), sizes.slice(first, dims), outputs.slice(first, dims)};
  Type elementType = elementOf(op.getOperand());
  bool isVector = anyStep(position);
  Value start = reductionIdentity(k, op.getKind(), elementType, isVector ? lanes : 1);
  Value total = windowLoop(window, position.slice(first, dims), start,
                           [&](ValueRange, ValueRange places, ValueRange carried) -> SmallVector<Value> {
                             Position source(position);
                             for (size_t d = 0; d < dims; ++d) source[first + d] = {places[d], 0};
                             Value element = at(op.getOperand(), source);
                             if (isVector) element = asVector(element);
                             return {reductionStep(k, op.getKind(), elementType, carried[0], element)};
                           })[0];
  return k.round(total, elementType);
}

Value Evaluator::matmul(ir::MatmulOp op, ArrayRef<Coordinate> position) {
  ArrayRef<int64_t> left = shapeOf(op.getLhs());
  size_t rank = position.size();
  int64_t depth = left[left.size() - (op.getTransposeLhs() ? 2 : 1)];
  auto operandPosition = [&](Value operand, Coordinate row, Coordinate column) {
    ArrayRef<int64_t> sizes = shapeOf(operand);
    Position result(sizes.size());
    for (size_t d = 0; d + 2 < sizes.size(); ++d)
      result[d] = sizes[d] == 1 ? Coordinate{zero, 0} : position[d + rank - sizes.size()];
    result[sizes.size() - 2] = row;
    result[sizes.size() - 1] = column;
    return result;
  };
  Type elementType = elementOf(op.getResult());
  bool vector = anyStep(position);
  Value start = k.zero(computeType(elementType), vector ? lanes : 0);
  auto step = [&](Value i, ValueRange carried) -> SmallVector<Value> {
    Scope scope(*this);
    Coordinate inner{i, 0}, row = position[rank - 2], column = position[rank - 1];
    Value a = at(op.getLhs(), op.getTransposeLhs() ? operandPosition(op.getLhs(), inner, row)
                                                   : operandPosition(op.getLhs(), row, inner));
    Value b = at(op.getRhs(), op.getTransposeRhs() ? operandPosition(op.getRhs(), column, inner)
                                                   : operandPosition(op.getRhs(), inner, column));
    if (vector) a = asVector(a), b = asVector(b);
    return {k.multiplyAdd(a, b, carried[0])};
  };
  auto chain = [&](Value begin, Value end) { return k.loop(begin, end, 1, start, step)[0]; };
  if (depth <= kLongestChain || !isa<FloatType>(computeType(elementType)))
    return k.round(chain(k.index(0), k.index(depth)), elementType);
  auto addChain = [&](Value begin, ValueRange sum) -> SmallVector<Value> {
    Value part = chain(begin, k.min(k.add(begin, kChainPart), k.index(depth)));
    return {arith::AddFOp::create(k.b, k.loc, sum[0], part)};
  };
  return k.round(k.loop(k.index(0), k.index(depth), kChainPart, start, addChain)[0], elementType);
}

Value Evaluator::conv(ir::ConvOp op, ArrayRef<Coordinate> position) {
  bool last = op.getChannelsLast();
  ArrayRef<int64_t> sizes = shapeOf(op.getInput()), outputs = shapeOf(op.getResult()), filter = shapeOf(op.getFilter());
  size_t first = last ? 1 : 2, channel = last ? sizes.size() - 1 : 1, dims = sizes.size() - 2;
  int64_t groups = op.getGroups(), inPerGroup = filter[1], outPerGroup = filter[0] / std::max<int64_t>(1, groups);
  Window window{filter.drop_front(2), op.getStrides(),          op.getDilations(),
                op.getPadding(),      sizes.slice(first, dims), outputs.slice(first, dims)};
  Type elementType = elementOf(op.getResult());
  Value out = position[channel].base;
  Value firstChannel = k.mul(k.div(out, std::max<int64_t>(1, outPerGroup)), inPerGroup);
  Value start = k.zero(computeType(elementType));
  Value total = windowLoop(
      window, position.slice(first, dims), start, [&](ValueRange taps, ValueRange places, ValueRange carried) {
        return k.loop(k.index(0), k.index(inPerGroup), 1, carried, [&](Value c, ValueRange sums) -> SmallVector<Value> {
          Scope scope(*this);
          Position source(position), weight{{out, 0}, {c, 0}};
          source[channel] = {k.add(firstChannel, c), 0};
          for (size_t d = 0; d < dims; ++d) {
            source[first + d] = {places[d], 0};
            weight.push_back({taps[d], 0});
          }
          return {k.multiplyAdd(at(op.getInput(), source), at(op.getFilter(), weight), sums[0])};
        });
      })[0];
  return k.round(total, elementType);
}

// Gathers: an output element sums the inputs that reach it, over window positions in row-major order, then channels.
Value Evaluator::convTranspose(ir::ConvTransposeOp op, ArrayRef<Coordinate> position) {
  ArrayRef<int64_t> sizes = shapeOf(op.getInput()), filter = shapeOf(op.getFilter());
  size_t dims = sizes.size() - 2;
  int64_t groups = std::max<int64_t>(1, op.getGroups()), outPerGroup = filter[1], inPerGroup = sizes[1] / groups;
  Type elementType = elementOf(op.getResult());
  Value out = position[1].base;
  Value firstChannel = k.mul(k.div(out, std::max<int64_t>(1, outPerGroup)), inPerGroup);
  Value outInGroup = k.rem(out, std::max<int64_t>(1, outPerGroup));
  std::function<SmallVector<Value>(size_t, SmallVector<Value>, SmallVector<Value>, ValueRange)> taps =
      [&](size_t dim, SmallVector<Value> at_, SmallVector<Value> places, ValueRange carried) -> SmallVector<Value> {
    if (dim == dims)
      return k.loop(k.index(0), k.index(inPerGroup), 1, carried, [&](Value c, ValueRange sums) -> SmallVector<Value> {
        Scope scope(*this);
        Value in = k.add(firstChannel, c);
        Position source{position[0], {in, 0}}, weight{{in, 0}, {outInGroup, 0}};
        for (size_t d = 0; d < dims; ++d) {
          source.push_back({places[d], 0});
          weight.push_back({at_[d], 0});
        }
        return {k.multiplyAdd(at(op.getInput(), source), at(op.getFilter(), weight), sums[0])};
      });
    return k.loop(k.index(0), k.index(filter[2 + dim]), 1, carried,
                  [&](Value tap, ValueRange sums) -> SmallVector<Value> {
                    // position + low = place * stride + tap * dilation
                    Value distance =
                        k.sub(k.add(position[2 + dim].base, op.getPadding()[dim]), k.mul(tap, op.getDilations()[dim]));
                    int64_t stride = op.getStrides()[dim];
                    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
                      return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
                    };
                    Value reaches = compare(arith::CmpIPredicate::sge, distance, zero);
                    Value place = arith::DivSIOp::create(k.b, k.loc, distance, k.index(stride));
                    reaches = arith::AndIOp::create(k.b, k.loc, reaches,
                                                    compare(arith::CmpIPredicate::eq, k.mul(place, stride), distance));
                    reaches = arith::AndIOp::create(k.b, k.loc, reaches,
                                                    compare(arith::CmpIPredicate::slt, place, k.index(sizes[2 + dim])));
                    auto choice = scf::IfOp::create(k.b, k.loc, sums.getTypes(), reaches, /*withElseRegion=*/true);
                    OpBuilder::InsertionGuard guard(k.b);
                    k.b.setInsertionPointToStart(choice.thenBlock());
                    SmallVector<Value> nextAt(at_), nextPlaces(places);
                    nextAt.push_back(tap);
                    nextPlaces.push_back(place);
                    SmallVector<Value> inner = taps(dim + 1, nextAt, nextPlaces, sums);
                    scf::YieldOp::create(k.b, k.loc, inner);
                    k.b.setInsertionPointToStart(choice.elseBlock());
                    scf::YieldOp::create(k.b, k.loc, sums);
                    return SmallVector<Value>(choice.getResults());
                  });
  };
  Value start = k.zero(computeType(elementType));
  return k.round(taps(0, {}, {}, start)[0], elementType);
}
