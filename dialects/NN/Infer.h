// Helpers of result type inference, which is each operation's verifier too. For this dialect and those on top of it.
// Inference also runs on operands and attributes that no verifier has seen (parser, importers): it checks everything.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/Storage.h"
#include <optional>

namespace sprig::ir {

/// One attempt at inferring the result types of an operation.
class Inference {
public:
  Inference(std::optional<mlir::Location> location, llvm::StringRef op, llvm::SmallVectorImpl<mlir::Type> &results)
      : location(location), op(op), results(results) {}

  /// Reports "'op' op ..." and fails.
  template <typename... Args> mlir::LogicalResult fail(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", op, "' op ", std::forward<Args>(args)...);
  }

  /// The type of an operand, which must be a ranked tensor of static shape.
  mlir::FailureOr<mlir::RankedTensorType> tensor(mlir::Value operand, llvm::StringRef name) const;
  /// An array attribute of the given length, or of any when -1; `per` says of what there is one entry each.
  mlir::FailureOr<llvm::ArrayRef<int64_t>> array(mlir::DenseI64ArrayAttr attribute, llvm::StringRef name, int64_t size,
                                                 llvm::StringRef per) const;
  /// An attribute that must be there.
  mlir::LogicalResult present(mlir::Attribute attribute, llvm::StringRef name) const;
  /// A dimension of the tensor.
  mlir::FailureOr<int64_t> axis(mlir::IntegerAttr attribute, mlir::RankedTensorType tensor) const;
  mlir::LogicalResult sameElementType(mlir::RankedTensorType a, llvm::StringRef aName, mlir::RankedTensorType b,
                                      llvm::StringRef bName) const;
  mlir::LogicalResult rankAtLeast(mlir::RankedTensorType type, llvm::StringRef name, int64_t rank) const;
  mlir::FailureOr<llvm::SmallVector<int64_t>> broadcast(mlir::RankedTensorType a, llvm::StringRef aName,
                                                        mlir::RankedTensorType b, llvm::StringRef bName) const;

  /// Takes a result type; a shape of more elements than can be counted fails.
  mlir::LogicalResult give(mlir::RankedTensorType type) const;
  mlir::LogicalResult give(llvm::ArrayRef<int64_t> shape, mlir::Type elementType) const {
    return give(mlir::RankedTensorType::get(shape, elementType));
  }
  /// Takes the type of `operand`, or its shape with elements of i1.
  mlir::LogicalResult giveTypeOf(mlir::Value operand, bool asFlags = false) const;

private:
  std::optional<mlir::Location> location;
  llvm::StringRef op;
  llvm::SmallVectorImpl<mlir::Type> &results;
};

/// Whether a number may take part in arithmetic on sizes: products and sums of a few cannot overflow.
inline bool isModest(int64_t value) { return value >= -(1ll << 30) && value <= (1ll << 30); }

/// Sliding windows over the spatial dimensions of an operand.
struct Windows {
  llvm::ArrayRef<int64_t> window, strides, dilations, padding;
  llvm::SmallVector<int64_t> outputs; // positions per dimension
};

/// Checks windows against the spatial sizes and computes the number of positions.
mlir::FailureOr<Windows> inferWindows(const Inference &infer, llvm::ArrayRef<int64_t> spatial,
                                      llvm::ArrayRef<int64_t> window, mlir::DenseI64ArrayAttr strides,
                                      mlir::DenseI64ArrayAttr dilations, mlir::DenseI64ArrayAttr padding);

/// The input of a convolution: [N, C, spatial...] or [N, spatial..., C].
mlir::LogicalResult checkConvInput(const Inference &infer, mlir::RankedTensorType input);
/// `which` channels split into groups: "input", "output".
mlir::LogicalResult checkGroups(const Inference &infer, int64_t groups, int64_t channels, llvm::StringRef which);

/// The element type of a product's result: that of both operands, or `accumulator` (i32 of i8 and ui8, f32 of bf16).
mlir::FailureOr<mlir::Type> inferAccumulator(const Inference &infer, mlir::RankedTensorType a, llvm::StringRef aName,
                                             mlir::RankedTensorType b, llvm::StringRef bName,
                                             mlir::TypeAttr accumulator);

/// The shape of a convolution's result.
mlir::FailureOr<llvm::SmallVector<int64_t>> inferConvolution(const Inference &infer, mlir::RankedTensorType input,
                                                             mlir::RankedTensorType filter, int64_t groups,
                                                             bool channelsLast, mlir::DenseI64ArrayAttr strides,
                                                             mlir::DenseI64ArrayAttr dilations,
                                                             mlir::DenseI64ArrayAttr padding);

/// The shape of a filter whose gradient a convolution's input and the cotangent of its result give: [O, C/groups,
/// window...].
mlir::FailureOr<llvm::SmallVector<int64_t>>
inferFilterGradient(const Inference &infer, mlir::RankedTensorType input, mlir::RankedTensorType cotangent,
                    bool channelsLast, int64_t groups, mlir::DenseI64ArrayAttr window, mlir::DenseI64ArrayAttr strides,
                    mlir::DenseI64ArrayAttr dilations, mlir::DenseI64ArrayAttr padding);

/// The shape that a reduction over `axes` leaves.
mlir::FailureOr<llvm::SmallVector<int64_t>> inferReduced(const Inference &infer, mlir::RankedTensorType operand,
                                                         mlir::DenseI64ArrayAttr axes, bool keepDims);

/// Gives the broadcast shape of two operands, with the element type of the first where no other is named.
mlir::LogicalResult inferBinary(const Inference &infer, mlir::Value lhs, mlir::Value rhs, bool sameElementType = true,
                                mlir::Type resultElement = {});

} // namespace sprig::ir
