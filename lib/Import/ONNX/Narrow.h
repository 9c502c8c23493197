// Element types of eight bits and fewer that Sprig stores and converts, but does not compute with: float8 in all forms,
// float4, and integers of four and two bits. Their tensors are bytes: ui8 with the code of each element, i8 with the
// value where the type is signed. An Item says which type its bytes stand for.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

struct NarrowType {
  int dataType;
  unsigned bits;
  bool isSigned = false; ///< of integers
  /// Of floats: bits of the mantissa, bias of the exponent, the codes of the largest number and of NaN, and what a
  /// number that is too large becomes where it is not saturated; 0 mantissa bits: powers of two without a sign.
  bool isFloat = false, hasNegativeZero = true;
  int mantissa = 0, bias = 0;
  int largest = 0, nan = 0, overflow = 0;
};

/// The type, or null where ONNX's number is of another.
const NarrowType *narrowType(int dataType);

/// The element type whose bytes hold an ONNX type: its own, ui8 or i8 for narrow ones, null for others.
Type storageType(mlir::MLIRContext *context, int dataType);
/// ONNX's number of what an item is.
int dataTypeOf(const Item &item);
/// "3x4xfloat8e5m2", as errors show an item that is a tensor.
std::string itemText(const Item &item);

/// The numbers: f32 of floats, exactly; the integers as they are.
Value widen(Emit &n, Value bytes, const NarrowType &type);
/// The bytes of numbers, rounded to nearest, ties to even. Integers of fewer bits wrap.
Value narrow(Node &n, Value numbers, const NarrowType &type, bool saturate, const std::string &roundMode = "up");

/// Fails where the node reads a narrow tensor and its operator does not convert or move it. After the import, outputs
/// of those that move are what came in.
void checkNarrow(const Node &n);
void passNarrow(Node &n);

} // namespace sprig::onnximport
