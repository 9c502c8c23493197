// The integers of a quantised element type, and those that a quantiser clips to.
// For inference and gradients of fake quantisation.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace sprig::ir {

struct IntegerBounds {
  int64_t low, high;

  IntegerBounds clipped(std::optional<int64_t> least, std::optional<int64_t> most) const {
    return {least.value_or(low), most.value_or(high)};
  }
  bool operator==(const IntegerBounds &) const = default;
};

/// Of an integer type of at most 32 bits.
inline IntegerBounds integersOf(mlir::Type type) {
  int64_t span = int64_t(1) << type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger()) return {0, span - 1};
  return {-span / 2, span / 2 - 1};
}

} // namespace sprig::ir
