// Builds nn operations for the importer: short names, constants folded at once, failures thrown.
// Rows of the operator table are written with it. An operation whose operands are all constants becomes a constant
// (within limits), so that shape arithmetic disappears while it is imported.
#pragma once
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "mlir/IR/Builders.h"

namespace sprig::onnximport {

using mlir::Attribute;
using mlir::ElementsAttr;
using mlir::NamedAttribute;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Ints = llvm::SmallVector<int64_t>;
using Values = llvm::SmallVector<Value>;
using IntsRef = llvm::ArrayRef<int64_t>;

/// What all nodes of an import share.
struct EmitState {
  mlir::OpBuilder &builder;
  mlir::ModuleOp module;
  ImportLimits limits;
  std::string diagnostic; ///< text of the last error that an operation's verifier or inference reported
  bool training = false;  ///< see ImportOptions
  int64_t dropouts = 0;   ///< nn.dropout operations of the entry so far: each has a stream of its own
  std::optional<double> seed = std::nullopt; ///< of nodes that draw random numbers and have none of their own
  int64_t draws = 0;                         ///< nodes of the entry that have drawn so far
  int64_t rolledLoops = 0;                   ///< loops around the node whose step is imported once for all
};

class Emit {
public:
  Emit(EmitState &state, mlir::Location loc, std::string label) : state(state), loc(loc), label(std::move(label)) {}

  // Failures: thrown with the place in front.
  [[noreturn]] void bad(const std::string &text) const { badInput(label + ": " + text); }
  [[noreturn]] void unsupported(const std::string &text) const { sprig::unsupported(label + ": " + text); }
  void require(bool condition, const std::string &text) const {
    if (!condition) bad(text);
  }

  // Types.
  mlir::MLIRContext *context() const { return state.builder.getContext(); }
  static RankedTensorType type(Value v) { return llvm::cast<RankedTensorType>(v.getType()); }
  static Type elem(Value v) { return type(v).getElementType(); }
  static IntsRef shape(Value v) { return type(v).getShape(); }
  static int64_t rank(Value v) { return type(v).getRank(); }
  static int64_t count(Value v) { return type(v).getNumElements(); }
  static bool isFloat(Value v) { return llvm::isa<mlir::FloatType>(elem(v)); }
  static bool isHalf(Type t) { return t.isF16() || t.isBF16(); }
  Type f32() const { return state.builder.getF32Type(); }
  Type i64() const { return state.builder.getI64Type(); }
  Type i1() const { return state.builder.getI1Type(); }
  Type ui8() const { return mlir::IntegerType::get(context(), 8, mlir::IntegerType::Unsigned); }
  /// The tensor type, after its size is checked against the limits.
  RankedTensorType tensor(IntsRef shape, Type element) const;
  /// An axis counted from 0, checked against the rank.
  int64_t axis(int64_t axis, int64_t rank, const char *what = "axis") const;
  /// Axes counted from 0, ascending and unique.
  Ints axes(IntsRef axes, int64_t rank) const;

  // Constants.
  Value constant(ElementsAttr value);
  Value constant(IntsRef shape, Type element, llvm::ArrayRef<double> values);
  Value ints(IntsRef values);                ///< i64, one dimension
  Value ints(IntsRef values, IntsRef shape); ///< i64
  Value scalar(double value, Type element);  ///< rank 0
  Value splat(double value, IntsRef shape, Type element);
  /// The value of an nn.constant or of a parameter, or null.
  ElementsAttr constantOf(Value v) const;
  static bool isConstant(Value v); ///< an nn.constant: may be folded; a parameter is state

  // Elementwise.
  template <typename OpT> Value op(ValueRange operands, llvm::ArrayRef<NamedAttribute> attributes = {}) {
    auto created = ir::createChecked<OpT>(state.builder, loc, operands, attributes);
    if (mlir::failed(created)) failed();
    return finish(created->getOperation())[0];
  }
  template <typename OpT> Values results(ValueRange operands, llvm::ArrayRef<NamedAttribute> attributes = {}) {
    auto created = ir::createChecked<OpT>(state.builder, loc, operands, attributes);
    if (mlir::failed(created)) failed();
    return finish(created->getOperation());
  }
  Value add(Value a, Value b) { return op<ir::AddOp>({a, b}); }
  Value sub(Value a, Value b) { return op<ir::SubOp>({a, b}); }
  Value mul(Value a, Value b) { return op<ir::MulOp>({a, b}); }
  Value div(Value a, Value b) { return op<ir::DivOp>({a, b}); }
  Value max(Value a, Value b) { return op<ir::MaxOp>({a, b}); }
  Value min(Value a, Value b) { return op<ir::MinOp>({a, b}); }
  /// With a bound, which takes the gradient where both are equal.
  Value atLeast(Value x, Value bound) { return op<ir::MaxOp>({x, bound}, {unit("bound")}); }
  Value atMost(Value x, Value bound) { return op<ir::MinOp>({x, bound}, {unit("bound")}); }
  /// The square root of what is not negative. At 0 its gradient is 0, where the root's is infinite.
  Value lengthOf(Value square);
  Value pow(Value a, Value b) { return op<ir::PowOp>({a, b}); }
  Value add(Value a, double b) { return add(a, scalar(b, elem(a))); }
  Value mul(Value a, double b) { return mul(a, scalar(b, elem(a))); }
  Value sub(double a, Value b) { return sub(scalar(a, elem(b)), b); }
  Value compare(ir::ComparePredicate predicate, Value a, Value b);
  Value select(Value condition, Value onTrue, Value onFalse) { return op<ir::SelectOp>({condition, onTrue, onFalse}); }
  Value logicalNot(Value v) { return op<ir::NotOp>({v}); }
  Value cast(Value v, Type element);
  Value bitcast(Value v, Type element); ///< of the same width

  // Shape.
  Value reshape(Value v, IntsRef shape);
  Value broadcast(Value v, IntsRef shape);
  Value transpose(Value v, IntsRef permutation);
  Value slice(Value v, IntsRef starts, IntsRef sizes, IntsRef steps);
  Value sliceAxis(Value v, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  Value concat(ValueRange values, int64_t axis);
  Value pad(ir::PadMode mode, Value v, Value value, IntsRef low, IntsRef high);
  Value gather(Value v, Value indices, int64_t axis);
  Value gatherElements(Value v, Value indices, int64_t axis);
  Value gatherNd(Value v, Value indices, int64_t batchDims);
  Value scatterElements(ir::ScatterKind kind, Value v, Value indices, Value updates, int64_t axis);
  Value scatterNd(ir::ScatterKind kind, Value v, Value indices, Value updates);
  Value iota(IntsRef shape, Type element, int64_t axis);
  Value unsqueeze(Value v, int64_t axis);
  Value squeeze(Value v, int64_t axis);

  // Contractions and reductions.
  Value matmul(Value a, Value b, bool transposeA = false, bool transposeB = false);
  Value reduce(ir::ReduceKind kind, Value v, IntsRef axes, bool keepDims);
  Value reduceMean(Value v, IntsRef axes, bool keepDims);
  Value argReduce(ir::ReduceKind kind, Value v, int64_t axis, bool keepDims, bool lastIndex);

  // Attributes.
  NamedAttribute attr(llvm::StringRef name, Attribute value) const { return state.builder.getNamedAttr(name, value); }
  NamedAttribute attr(llvm::StringRef name, int64_t value) const {
    return attr(name, state.builder.getI64IntegerAttr(value));
  }
  NamedAttribute attr(llvm::StringRef name, IntsRef value) const {
    return attr(name, state.builder.getDenseI64ArrayAttr(value));
  }
  NamedAttribute real(llvm::StringRef name, double value) const {
    return attr(name, state.builder.getF64FloatAttr(value));
  }
  NamedAttribute unit(llvm::StringRef name) const { return attr(name, state.builder.getUnitAttr()); }

  EmitState &state;
  mlir::Location loc;
  std::string label;

private:
  [[noreturn]] void failed();
  /// Checks sizes, folds; the values that stand for the results.
  Values finish(mlir::Operation *op);
  bool fold(mlir::Operation *op, Values &folded);
};

std::string typeText(Value v);

} // namespace sprig::onnximport
