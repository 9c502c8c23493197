// Conversions between numbers of the dialect's element types and their storage bytes.
// For the interpreter and tests. Floats round to nearest even in one step from double; integers wrap.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include <cstdint>
#include <vector>

namespace sprig::interp {

/// The nearest value of a float type, ties to even; overflow goes to infinity.
double roundTo(double value, mlir::Type floatType);

/// The low bits of `value` as a value of an integer type: sign-extended, or zero-extended for unsigned types and i1.
int64_t wrapTo(int64_t value, mlir::Type integerType);

/// All elements of a type's class: integers by `wrapTo`, floats as they are.
inline void wrapAll(std::vector<double> &, mlir::Type) {}
inline void wrapAll(std::vector<int64_t> &values, mlir::Type integerType) {
  for (int64_t &value : values) value = wrapTo(value, integerType);
}

/// Truncated towards zero and clamped to the type's range; NaN gives 0.
int64_t saturateTo(double value, mlir::Type integerType);

/// The value of an integer of the given type as a double.
double toDouble(int64_t value, mlir::Type integerType);

bool isUnsigned(mlir::Type integerType);
/// Bounds of an integer type, unsigned 64-bit ones by their bits.
int64_t lowestOf(mlir::Type integerType);
int64_t highestOf(mlir::Type integerType);

/// Reads and writes `count` elements in storage form: little-endian, an i1 is a byte.
void decode(mlir::Type elementType, const char *bytes, int64_t count, double *out);
void decode(mlir::Type elementType, const char *bytes, int64_t count, int64_t *out);
void encode(mlir::Type elementType, const double *values, int64_t count, char *out);
void encode(mlir::Type elementType, const int64_t *values, int64_t count, char *out);

} // namespace sprig::interp
