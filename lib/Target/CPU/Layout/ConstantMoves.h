// Movements of constants that passes evaluate at once, because waiting for a folder would keep both copies alive.
// And what passes ask of values before. For the passes of this folder. A splat stays a splat. On other values the
// functions create the operation.
#pragma once
#include "dialects/NN/NNContraction.h"

namespace sprig::cpu {

/// Whether a value depends on no argument of its function: constants, parameters and what is made of them.
bool isInvariant(mlir::Value value);

/// What a constant holds; null of other values, and where its bytes are not there.
mlir::ElementsAttr readableConstant(mlir::Value value);

/// Whether all rows of a product meet one matrix on the right, which panels can be made of.
bool meetsOneMatrix(ir::MatmulOp op);

/// A reshape where no element moves.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> permutation);
mlir::Value reshaped(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Floats in another type of floats, rounded to nearest even.
mlir::Value converted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::FloatType element);

/// Panels of a matrix [K, N], or [N, K] when `transposedMatrix` (kernel.pack).
mlir::Value packed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value matrix, bool transposedMatrix,
                   int64_t interleave = 1);
/// Panels of codes of 4 or 8 bits (kernel::NarrowPlaces), `code(k, column)` each.
mlir::Value packedCodes(mlir::OpBuilder &builder, mlir::Location loc, int64_t depth, int64_t columns, int64_t bits,
                        llvm::function_ref<int64_t(int64_t, int64_t)> code);
/// Panels of a filter [O, C/groups, window...] (kernel.conv_packed).
mlir::Value packedFilter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value filter, int64_t groups);
/// The same of a constant filter with interleaved rows, whose window takes runs of `run` elements (kernel::runLength).
mlir::Value packedInterleavedFilter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value filter, int64_t groups,
                                    int64_t run);

/// A constant filter [C, 1, window...] of bytes as kernel.conv_depthwise_dot reads it.
mlir::Value packedDepthwiseFilter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value filter);

} // namespace sprig::cpu
