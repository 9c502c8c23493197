#include "lib/Import/ONNX/Emit.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Import/ONNX/Tensor.h"
#include "lib/Interpreter/Fold.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace sprig::onnximport {

std::string typeText(Value v) { return ir::describe(v.getType()); }

Value Emit::lengthOf(Value square) {
  Value isZero = compare(ir::ComparePredicate::eq, square, scalar(0, elem(square)));
  return op<ir::SqrtOp>({select(isZero, op<ir::StopGradientOp>({square}), square)});
}

void Emit::failed() {
  std::string text = state.diagnostic;
  // "'nn.matmul' op contracts ..." names our operation; the label names the model's.
  if (text.rfind("'nn.", 0) == 0)
    if (size_t end = text.find("' op "); end != std::string::npos) text = text.substr(end + 5);
  bad(text.empty() ? "does not fit its operands" : text);
}

RankedTensorType Emit::tensor(IntsRef shape, Type element) const {
  // Bounds on rank and single sizes hold for empty tensors too, so that sums of sizes cannot overflow anywhere.
  constexpr int64_t kLargestSize = int64_t(1) << 48;
  constexpr size_t kLargestRank = 64;
  if (shape.size() > kLargestRank)
    unsupported("makes a tensor of rank " + std::to_string(shape.size()) + "; the limit is 64");
  for (int64_t size : shape) {
    if (size < 0) bad("would make a tensor with a dimension of size " + std::to_string(size));
    if (size > kLargestSize)
      unsupported("makes a tensor of shape " + shapeText(shape) + "; the limit of a dimension is " +
                  std::to_string(kLargestSize));
  }
  std::optional<int64_t> elements = countElements(shape);
  if (!elements || *elements > state.limits.tensorBytes / storageBytes(element))
    unsupported("makes a tensor of shape " + shapeText(shape) + "; the limit is " +
                std::to_string(state.limits.tensorBytes) + " bytes");
  return RankedTensorType::get(shape, element);
}

int64_t Emit::axis(int64_t axis, int64_t rank, const char *what) const {
  if (axis < -rank || axis >= rank)
    bad(std::string(what) + " " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

Ints Emit::axes(IntsRef given, int64_t rank) const {
  Ints result;
  for (int64_t a : given) result.push_back(axis(a, rank, "axis"));
  llvm::sort(result);
  for (size_t i = 1; i < result.size(); ++i)
    if (result[i] == result[i - 1]) bad("names axis " + std::to_string(result[i]) + " twice");
  return result;
}

//===- Constants -------------------------------------------------------------------------------------------------===//

Value Emit::constant(ElementsAttr value) { return ir::ConstantOp::create(state.builder, loc, value); }

/// Appends the bits of a number in an element type.
static void appendNumber(std::vector<char> &bytes, double value, Type element) {
  auto put = [&](uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes.push_back(char(bits >> (8 * i)));
  };
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool lost;
    number.convert(floating.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    put(number.bitcastToAPInt().getZExtValue(), floating.getWidth() / 8);
    return;
  }
  auto integer = cast<IntegerType>(element);
  put(ir::nearestInteger(value, integer).getZExtValue(), (integer.getWidth() + 7) / 8);
}

Value Emit::constant(IntsRef shape, Type element, ArrayRef<double> values) {
  std::vector<char> bytes;
  for (double value : values) appendNumber(bytes, value, element);
  return constant(ir::makeConstant(tensor(shape, element), std::move(bytes)));
}

Value Emit::ints(IntsRef values, IntsRef shape) {
  std::vector<char> bytes(values.size() * 8);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return constant(ir::makeConstant(tensor(shape, i64()), std::move(bytes)));
}
Value Emit::ints(IntsRef values) { return ints(values, {int64_t(values.size())}); }

Value Emit::splat(double value, IntsRef shape, Type element) {
  RankedTensorType resultType = tensor(shape, element);
  std::vector<char> bytes;
  if (resultType.getNumElements() > 0) appendNumber(bytes, value, element);
  return constant(ir::makeConstant(resultType, std::move(bytes)));
}
Value Emit::scalar(double value, Type element) { return splat(value, {}, element); }

ElementsAttr Emit::constantOf(Value v) const {
  if (auto constant = v.getDefiningOp<ir::ConstantOp>()) return constant.getValue();
  if (auto get = v.getDefiningOp<ir::GetParamOp>()) {
    ModuleOp module = state.module;
    if (auto param = module.lookupSymbol<ir::ParamOp>(get.getParam())) return param.getValue();
  }
  return {};
}

bool Emit::isConstant(Value v) { return bool(v.getDefiningOp<ir::ConstantOp>()); }

bool Emit::fold(Operation *op, Values &folded) {
  if (op->getNumOperands() == 0 || !llvm::all_of(op->getOperands(), isConstant)) return false;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) operands.push_back(constantOf(operand));
  SmallVector<OpFoldResult> results;
  if (succeeded(op->fold(operands, results)) && results.size() == op->getNumResults()) {
    for (OpFoldResult result : results) {
      auto attribute = dyn_cast<Attribute>(result);
      folded.push_back(attribute ? constant(cast<ElementsAttr>(attribute)) : cast<Value>(result));
    }
    return true;
  }
  folded.clear();
  interp::FoldLimits limits;
  limits.resultBytes = state.limits.foldedBytes;
  // Shape arithmetic is small; what is large is left to the passes.
  limits.flops = int64_t(1) << 24;
  auto values = interp::foldOperation(op, limits);
  if (!values) return false;
  for (ElementsAttr value : *values) folded.push_back(constant(value));
  return true;
}

Values Emit::finish(Operation *op) {
  for (Type result : op->getResultTypes()) {
    auto tensorType = cast<RankedTensorType>(result);
    tensor(tensorType.getShape(), tensorType.getElementType());
  }
  Values folded;
  if (fold(op, folded)) {
    op->erase();
    return folded;
  }
  return Values(op->getResults());
}

//===- Elementwise -----------------------------------------------------------------------------------------------===//

Value Emit::compare(ir::ComparePredicate predicate, Value a, Value b) {
  return op<ir::CompareOp>({a, b}, {attr("predicate", ir::ComparePredicateAttr::get(context(), predicate))});
}

Value Emit::cast(Value v, Type element) {
  if (elem(v) == element) return v;
  return finish(ir::CastOp::create(state.builder, loc, tensor(shape(v), element), v))[0];
}

Value Emit::bitcast(Value v, Type element) {
  if (elem(v) == element) return v;
  return finish(ir::BitcastOp::create(state.builder, loc, tensor(shape(v), element), v))[0];
}

//===- Shape -----------------------------------------------------------------------------------------------------===//

Value Emit::reshape(Value v, IntsRef newShape) {
  if (shape(v) == newShape) return v;
  std::optional<int64_t> elements = countElements(newShape);
  if (!elements || *elements != count(v))
    bad("reshapes " + typeText(v) + " (" + std::to_string(count(v)) + " elements) to " + shapeText(newShape) + " (" +
        (elements ? std::to_string(*elements) : std::string("too many")) + " elements)");
  return finish(ir::ReshapeOp::create(state.builder, loc, tensor(newShape, elem(v)), v))[0];
}

Value Emit::broadcast(Value v, IntsRef newShape) {
  if (shape(v) == newShape) return v;
  FailureOr<SmallVector<int64_t>> together = ir::broadcastShapes(shape(v), newShape);
  if (mlir::failed(together) || IntsRef(*together) != newShape)
    bad("cannot broadcast " + typeText(v) + " to " + shapeText(newShape));
  return finish(ir::BroadcastOp::create(state.builder, loc, tensor(newShape, elem(v)), v))[0];
}

Value Emit::transpose(Value v, IntsRef permutation) {
  bool identity = int64_t(permutation.size()) == rank(v);
  for (size_t i = 0; i < permutation.size(); ++i) identity &= permutation[i] == int64_t(i);
  return identity ? v : op<ir::TransposeOp>({v}, {attr("permutation", permutation)});
}

Value Emit::slice(Value v, IntsRef starts, IntsRef sizes, IntsRef steps) {
  bool whole = sizes == shape(v) && llvm::all_of(steps, [](int64_t s) { return s == 1; });
  if (whole) return v;
  return op<ir::SliceOp>({v}, {attr("starts", starts), attr("sizes", sizes), attr("steps", steps)});
}

Value Emit::sliceAxis(Value v, int64_t axis, int64_t start, int64_t size, int64_t step) {
  Ints starts(rank(v), 0), sizes(shape(v)), steps(rank(v), 1);
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return slice(v, starts, sizes, steps);
}

Value Emit::concat(ValueRange values, int64_t axis) {
  if (values.size() == 1) return values[0];
  return op<ir::ConcatOp>(values, {attr("axis", axis)});
}

Value Emit::pad(ir::PadMode mode, Value v, Value value, IntsRef low, IntsRef high) {
  auto zero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, zero) && llvm::all_of(high, zero)) return v;
  return op<ir::PadOp>({v, value},
                       {attr("mode", ir::PadModeAttr::get(context(), mode)), attr("low", low), attr("high", high)});
}

Value Emit::gather(Value v, Value indices, int64_t axis) {
  return op<ir::GatherOp>({v, indices}, {attr("axis", axis)});
}
Value Emit::gatherElements(Value v, Value indices, int64_t axis) {
  return op<ir::GatherElementsOp>({v, indices}, {attr("axis", axis)});
}
Value Emit::gatherNd(Value v, Value indices, int64_t batchDims) {
  return op<ir::GatherNdOp>({v, indices}, {attr("batch_dims", batchDims)});
}
Value Emit::scatterElements(ir::ScatterKind kind, Value v, Value indices, Value updates, int64_t axis) {
  return op<ir::ScatterElementsOp>({v, indices, updates},
                                   {attr("kind", ir::ScatterKindAttr::get(context(), kind)), attr("axis", axis)});
}
Value Emit::scatterNd(ir::ScatterKind kind, Value v, Value indices, Value updates) {
  return op<ir::ScatterNdOp>({v, indices, updates}, {attr("kind", ir::ScatterKindAttr::get(context(), kind))});
}

Value Emit::iota(IntsRef shape, Type element, int64_t axis) {
  RankedTensorType resultType = tensor(shape, element);
  if (resultType.getNumElements() * storageBytes(element) > state.limits.foldedBytes)
    return ir::IotaOp::create(state.builder, loc, resultType, axis);
  int64_t inner = 1;
  for (size_t i = size_t(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
  std::vector<char> bytes;
  for (int64_t i = 0, e = resultType.getNumElements(); i < e; ++i)
    appendNumber(bytes, double(i / inner % shape[axis]), element);
  return constant(ir::makeConstant(resultType, std::move(bytes)));
}

Value Emit::unsqueeze(Value v, int64_t axis) {
  Ints newShape(shape(v));
  newShape.insert(newShape.begin() + axis, 1);
  return reshape(v, newShape);
}
Value Emit::squeeze(Value v, int64_t axis) {
  Ints newShape(shape(v));
  newShape.erase(newShape.begin() + axis);
  return reshape(v, newShape);
}

//===- Contractions and reductions -------------------------------------------------------------------------------===//

Value Emit::matmul(Value a, Value b, bool transposeA, bool transposeB) {
  SmallVector<NamedAttribute> attributes;
  if (transposeA) attributes.push_back(unit("transpose_lhs"));
  if (transposeB) attributes.push_back(unit("transpose_rhs"));
  return op<ir::MatmulOp>({a, b}, attributes);
}

Value Emit::reduce(ir::ReduceKind kind, Value v, IntsRef axes, bool keepDims) {
  if (axes.empty()) return v;
  SmallVector<NamedAttribute> attributes{attr("kind", ir::ReduceKindAttr::get(context(), kind)), attr("axes", axes)};
  if (keepDims) attributes.push_back(unit("keep_dims"));
  return op<ir::ReduceOp>({v}, attributes);
}

Value Emit::reduceMean(Value v, IntsRef axes, bool keepDims) {
  if (axes.empty()) return v;
  SmallVector<NamedAttribute> attributes{attr("axes", axes)};
  if (keepDims) attributes.push_back(unit("keep_dims"));
  return op<ir::ReduceMeanOp>({v}, attributes);
}

Value Emit::argReduce(ir::ReduceKind kind, Value v, int64_t axis, bool keepDims, bool lastIndex) {
  SmallVector<NamedAttribute> attributes{attr("kind", ir::ReduceKindAttr::get(context(), kind)), attr("axis", axis)};
  if (keepDims) attributes.push_back(unit("keep_dims"));
  if (lastIndex) attributes.push_back(unit("last_index"));
  return op<ir::ArgReduceOp>({v}, attributes);
}

} // namespace sprig::onnximport
