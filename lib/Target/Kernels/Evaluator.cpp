// Leaves, elementwise operations and views; EvaluatorGenerators.cpp has the operations that loop within an element,
// EvaluatorChecks.cpp what is checked at run time.
#include "lib/Target/Kernels/Evaluator.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

Evaluator::Evaluator(ElementBuilder &kernel, int64_t lanes)
    : k(kernel), lanes(lanes), zero(kernel.index(0)), active(lanes) {}

int32_t sprig::operationNumber(Operation *op) {
  int32_t number = 0;
  for (Operation &other : *op->getBlock()) {
    if (&other == op) break;
    ++number;
  }
  return number;
}

Value Evaluator::asVector(Value value) {
  return lanes == 1 || isa<VectorType>(value.getType()) ? value : k.splat(value, lanes);
}

Value Evaluator::activeMask() { return active == lanes ? Value() : k.mask(active, lanes); }

Value Evaluator::at(Value value, ArrayRef<Coordinate> position) {
  if (Value row = known.lookup(value)) return row;
  std::vector<std::pair<const void *, int64_t>> key{{value.getAsOpaquePointer(), active}};
  for (const Coordinate &c : position) key.push_back({c.base.getAsOpaquePointer(), c.step});
  if (auto it = memo.find(key); it != memo.end()) return it->second;
  Value result = compute(value, position);
  memo[key] = result;
  return result;
}

Value Evaluator::compute(Value value, ArrayRef<Coordinate> position) {
  if (Value there = stored(value, position)) return there;
  if (auto leaf = dyn_cast<BlockArgument>(value)) return loadLeaf(leaf, position);
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ir::ConstantOp>(op))
    return k.splatConstant(cast<DenseElementsAttr>(constant.getValue()));
  if (isa<ElementwiseOpInterface>(op)) return elementwise(op, position);
  if (fusionKind(op) == FusionKind::view) return view(op, position);
  return generator(op, position);
}

Value Evaluator::loadLeaf(BlockArgument leaf, ArrayRef<Coordinate> position) {
  SmallVector<int64_t> sizes = positionShape(leaf);
  Type elementType = elementOf(leaf);
  Value buffer = k.flat(k.bufferOf(leaf)), offset = zero;
  int64_t laneStride = 0, stride = 1;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    offset = k.add(k.mul(position[d].base, stride), offset);
    laneStride += position[d].step * stride;
    stride *= sizes[d];
  }
  if (laneStride == 0) return k.load(buffer, offset, elementType);
  if (laneStride == 1) return k.loadVector(buffer, offset, elementType, activeMask(), lanes);
  auto vectorType = VectorType::get({lanes}, storageType(elementType));
  if (laneStride == -1 && active == lanes) {
    Value stored = vector::LoadOp::create(k.b, k.loc, vectorType, buffer, k.add(offset, -(lanes - 1)));
    SmallVector<int64_t> reverse;
    for (int64_t lane = lanes - 1; lane >= 0; --lane) reverse.push_back(lane);
    return k.widen(vector::ShuffleOp::create(k.b, k.loc, stored, stored, reverse), elementType);
  }
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(lane < active
                           ? Value(memref::LoadOp::create(k.b, k.loc, buffer, k.add(offset, lane * laneStride)))
                           : elements.front());
  return k.widen(vector::FromElementsOp::create(k.b, k.loc, vectorType, elements), elementType);
}

Position Evaluator::broadcastPosition(Value operand, ArrayRef<Coordinate> position) {
  SmallVector<int64_t> sizes = positionShape(operand);
  Position result(sizes.size());
  size_t missing = position.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) result[d] = sizes[d] == 1 ? Coordinate{zero, 0} : position[d + missing];
  return result;
}

Value Evaluator::elementwise(Operation *op, ArrayRef<Coordinate> position) {
  SmallVector<Value> arguments;
  bool anyVector = false;
  for (Value operand : op->getOperands()) {
    arguments.push_back(at(operand, broadcastPosition(operand, position)));
    anyVector |= isa<VectorType>(arguments.back().getType());
  }
  if (anyVector)
    for (Value &argument : arguments) argument = asVector(argument);
  if (ir::isCheckedAtRunTime(op)) check(op, arguments);
  return k.apply(op, arguments);
}

size_t Evaluator::coordinateOf(ir::IotaOp iota) const { return iota.getAxis(); }

Value Evaluator::view(Operation *op, ArrayRef<Coordinate> position) {
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op))
    return at(broadcast.getOperand(), broadcastPosition(broadcast.getOperand(), position));
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    Position source(position.size());
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation())) source[from] = position[i];
    return at(transpose.getOperand(), source);
  }
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    Position source(position.size());
    for (size_t d = 0; d < position.size(); ++d) {
      int64_t step = slice.getSteps()[d];
      source[d] = {k.add(k.mul(position[d].base, step), slice.getStarts()[d]), position[d].step * step};
    }
    return at(slice.getOperand(), source);
  }
  auto iota = cast<ir::IotaOp>(op);
  Type elementType = elementOf(iota.getResult());
  Coordinate along = position[coordinateOf(iota)];
  Type i64 = k.b.getI64Type();
  Value index = arith::IndexCastOp::create(k.b, k.loc, i64, along.base);
  if (along.step) {
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < lanes; ++lane) steps.push_back(lane * along.step);
    auto type = VectorType::get({lanes}, i64);
    Value places = arith::ConstantOp::create(k.b, k.loc, type, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
    index = arith::AddIOp::create(k.b, k.loc, asVector(index), places);
  }
  Type target = computeType(elementType);
  auto like = [&](Type element) -> Type { return along.step ? Type(VectorType::get({lanes}, element)) : element; };
  if (isa<FloatType>(target)) return k.round(arith::SIToFPOp::create(k.b, k.loc, like(target), index), elementType);
  if (target.getIntOrFloatBitWidth() < 64) return arith::TruncIOp::create(k.b, k.loc, like(target), index);
  return index;
}

Value Evaluator::perLane(ArrayRef<Coordinate> position, llvm::function_ref<Value(ArrayRef<Coordinate>)> one) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (lane >= active) {
      elements.push_back(elements.front());
      continue;
    }
    Position single;
    for (const Coordinate &c : position) single.push_back({k.add(c.base, lane * c.step), 0});
    elements.push_back(one(single));
  }
  return vector::FromElementsOp::create(k.b, k.loc, VectorType::get({lanes}, elements[0].getType()), elements);
}
