// Rewrites around nn.quantize and nn.dequantize, for the pass integer-products.
#pragma once
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNQuantized.h"
#include <optional>
#include <vector>

namespace sprig::quantization {

bool isConstant(mlir::Value value);
/// The only element of a constant, in a tensor without dimensions.
mlir::Value scalarOf(mlir::OpBuilder &builder, mlir::Value value);
/// The elements of a constant as numbers; nothing of other values.
std::optional<std::vector<double>> numbersOf(mlir::Value value);

/// A rescaled product of integers plus a bias that is quantised with the same scales: the bias is added to the
/// integers.
void addBiasAsInteger(ir::AddOp add);

/// A dequantised tensor whose places are zero where a condition does not hold (what lies behind a length): the integers
/// are their zero point there.
void fillWithIntegers(ir::SelectOp select);

/// A mean of a dequantised tensor, over axes or over windows that all lie in the tensor: of bytes with one scale it is
/// their exact sum times one factor. Does nothing to other operations.
void averageIntegers(mlir::Operation *op);

/// What leads to a quantisation is computed on integers where it only moves elements or takes maxima; else the scale
/// goes back into constants, and the quantisation has none.
void simplifyQuantize(ir::QuantizeOp quantize);

} // namespace sprig::quantization
