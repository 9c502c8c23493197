// Queries on the type of a value that is known to be a ranked tensor, for passes. The casts assert: another type is a
// compiler bug.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Value.h"

namespace sprig {

inline mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorOf(value).getShape(); }
/// The element type of a tensor or vector; of a scalar, its type.
inline mlir::Type elementOf(mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()); }
/// Whether the elements are floating-point numbers.
inline bool isReal(mlir::Value value) { return llvm::isa<mlir::FloatType>(elementOf(value)); }

} // namespace sprig
