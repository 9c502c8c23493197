// Quantisers of a network that is trained: the pairs that gradients go through, and the parameters that are theirs.
// For the step builder and the training form. Scales and zero points are not trained, so their values are known.
#pragma once
#include "dialects/NN/NNQuantized.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace sprig::training {

/// What takes a quantiser's integers back by the quantiser's own scale and zero point.
struct QuantizerPair {
  ir::QuantizeOp quantize;
  std::optional<int64_t> low, high; ///< what integers are clipped to in between
};

/// The pair that ends in `narrow`: numbers of both are one value, or equal ones that are known, however they are
/// reshaped. Nothing where integers go another way.
std::optional<QuantizerPair> pairOf(ir::DequantizeOp narrow);

/// Whether a value is a scale of a quantiser, or serves nothing but scales and zero points: it is found by calibration
/// or computed from weights, and not trained.
bool isQuantizersParameter(mlir::Value value);

/// Throws unsupported where a quantiser that is in no pair stands behind one of the parameters: it would have no
/// gradient, silently.
void requirePairs(mlir::func::FuncOp forward, llvm::ArrayRef<std::string> trained, llvm::StringRef model);

} // namespace sprig::training
