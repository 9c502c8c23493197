// Short ways to write expressions of nn primitives, for decompositions and rewrites.
// Operands must fit: this is for values of verified operations, where inference cannot fail.
#pragma once
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "llvm/ADT/Sequence.h"

namespace sprig::ir {

/// What `decompose` gives: the values that stand for the operation's results.
using Values = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;
inline Values one(mlir::Value value) { return llvm::SmallVector<mlir::Value>{value}; }

class Expression {
public:
  Expression(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}
  mlir::OpBuilder &b;
  mlir::Location loc;

  template <typename OpT> mlir::Value unary(mlir::Value x) { return OpT::create(b, loc, x); }
  template <typename OpT> mlir::Value binary(mlir::Value x, mlir::Value y) { return OpT::create(b, loc, x, y); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return binary<AddOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return binary<SubOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return binary<MulOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return binary<DivOp>(x, y); }
  mlir::Value compare(ComparePredicate predicate, mlir::Value x, mlir::Value y) {
    return CompareOp::create(b, loc, predicate, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
    return ReduceOp::create(b, loc, kind, x, axes, keepDims);
  }
  /// The sum over all axes, a scalar.
  mlir::Value sumOfAll(mlir::Value x) { return reduce(ReduceKind::sum, x, allAxes(x), false); }
  /// A sum that ranks add up where it is computed (kSumAttr).
  mlir::Value sumOfRanks(mlir::Value x, llvm::ArrayRef<int64_t> axes, llvm::StringRef name) {
    mlir::Value sum = reduce(ReduceKind::sum, x, axes, false);
    sum.getDefiningOp()->setAttr(kSumAttr, b.getStringAttr(name));
    return sum;
  }
  mlir::Value matmul(mlir::Value x, mlir::Value y, bool transposeRhs) {
    return MatmulOp::create(b, loc, x, y, /*transpose_lhs=*/false, transposeRhs);
  }
  /// The value itself where it has the shape.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    auto type = typeOf(x);
    if (type.getShape() == shape) return x;
    return ReshapeOp::create(b, loc, type.clone(shape), x);
  }
  /// The value itself where it has the element type.
  mlir::Value cast(mlir::Value x, mlir::Type element) {
    auto type = typeOf(x);
    if (type.getElementType() == element) return x;
    return CastOp::create(b, loc, mlir::RankedTensorType::get(type.getShape(), element), x);
  }
  /// Half types as f32, others as they are.
  mlir::Value widened(mlir::Value x) {
    mlir::Type element = typeOf(x).getElementType();
    return element.isF16() || element.isBF16() ? cast(x, b.getF32Type()) : x;
  }
  /// A constant of one element, which broadcasts, in the element type of `model`.
  mlir::Value splat(mlir::Value model, double value) {
    return createSplat(b, loc, mlir::RankedTensorType::get({}, typeOf(model).getElementType()), value);
  }
  /// A constant of a float type.
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, mlir::Type element, llvm::ArrayRef<double> values) {
    auto type = mlir::RankedTensorType::get(shape, element);
    llvm::SmallVector<mlir::Attribute> elements;
    for (double value : values) elements.push_back(b.getFloatAttr(element, value));
    return ConstantOp::create(b, loc, type, mlir::DenseElementsAttr::get(type, elements));
  }

  static llvm::SmallVector<int64_t> allAxes(mlir::Value x) {
    return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  }
  static mlir::RankedTensorType typeOf(mlir::Value x) { return llvm::cast<mlir::RankedTensorType>(x.getType()); }
};

} // namespace sprig::ir
