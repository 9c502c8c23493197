// What operators on quantised tensors are made of: scales and zero points, and products without them.
// For ONNX's own operators (Quantization.cpp) and those of com.microsoft.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// A scale or zero point (scalar, per axis, or per block along the axis) in a shape that broadcasts to x.
Value spread(Node &n, Value parameter, Value x, int64_t axis, int64_t block);
/// round(x / scale) + zero, saturated.
Value quantize(Node &n, Value x, Value scale, Value zero, Type to);
/// (x - zero) * scale in f32, of operands that broadcast; without a zero point it is 0.
Value dequantize(Node &n, Value x, Value scale, Value zero);

/// Sums of products times a factor, quantised to the zero point's type.
Value requantize(Node &n, Value sums, Value factor, Value zero);
/// Products of integers less their zero points, which may be null, in 32 bits: as nn.matmul_integer and nn.conv_integer
/// where the operands are bytes.
Value multiplyIntegers(Node &n, Value a, Value b, Value aZero, Value bZero);
Value convolveIntegers(Node &n, Value x, Value filter, Value xZero, Value filterZero);

/// A whole tensor in bytes, with the scale and zero point that its extremes give.
struct DynamicQuantized {
  Value values, scale, zero;
};
DynamicQuantized dynamicQuantize(Node &n, Value x);

/// x - zero in i32; a zero point of more than one element belongs to the rows or columns of a matrix.
Value centred(Node &n, Value x, Value zero, bool rows);
/// Scales of the rows of a matrix stand in a column.
Value rowScale(Node &n, Value scale);

} // namespace sprig::onnximport
