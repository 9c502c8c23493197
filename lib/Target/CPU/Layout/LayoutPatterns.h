// The rewrites of the layout pass, by subject. For that pass alone.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace sprig::cpu {

/// A transposed convolution is a convolution over its input spread out by zeros, with the filter turned round.
void populateConvTransposePatterns(mlir::RewritePatternSet &patterns);

/// With strides, it is one convolution for each phase of them, without the zeros.
void populateConvTransposePhasePatterns(mlir::RewritePatternSet &patterns);

/// Convolutions and pools take and give channels-last tensors, between transposes.
void populateChannelsLastPatterns(mlir::RewritePatternSet &patterns);

/// Transposes move down through what does not care for the order of dimensions, cancel, become reshapes where only
/// dimensions of size 1 move, and vanish into the flags of matrix products. But if `strict`, a reduction moves only
/// where it can keep the order of its elements.
void populateTransposeMovePatterns(mlir::RewritePatternSet &patterns, bool strict);

/// A transpose in front of a flatten vanishes into the constant weight of the product after it, which then adds up in
/// another order: a bit may change.
void populateFlattenPatterns(mlir::RewritePatternSet &patterns);

/// [0, 2, 3, ..., 1]: channels from the second place to the last.
llvm::SmallVector<int64_t> channelsToLast(int64_t rank);
/// [0, rank - 1, 1, 2, ...]: channels from the last place to the second.
llvm::SmallVector<int64_t> channelsToSecond(int64_t rank);
llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> permutation);

} // namespace sprig::cpu
