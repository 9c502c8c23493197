// What operations touch of the values that they read and make: bytes in order, and places that data names.
// For all that price operations: schedule, placement, simulator, reports.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include <cstdint>

namespace sprig {

/// Bytes of a line of the caches.
inline constexpr int64_t kCacheLine = 64;

struct Touched {
  int64_t bytes = 0;         ///< read or written one after the other
  int64_t accesses = 0;      ///< places that data names
  int64_t accessedBytes = 0; ///< the cache lines of those places that nothing else brings near
  int64_t spread = 0;        ///< bytes that the latter are spread over

  int64_t total() const { return bytes + accessedBytes; }
  Touched &operator+=(const Touched &other);
  /// At most so many bytes.
  Touched upTo(int64_t most) const;
  /// That many times, in the same places or others.
  Touched times(double count) const;
};

/// All bytes of a tensor or a buffer of static shape; nothing of other types.
Touched wholeOf(mlir::Type type);
/// Runs of so many consecutive bytes each, one after the other, of a tensor: in whole cache lines, and no line twice.
Touched runsIn(mlir::Type type, int64_t runs, int64_t bytes);
/// Places of so many consecutive bytes each that data names, counted like runs. `window`: bytes that those of a round
/// are in, one round after the other; what the first cache holds of them comes like a stream.
Touched placesIn(mlir::Type type, int64_t places, int64_t bytes, int64_t window);

/// What one user reads of a value.
Touched touchedBy(mlir::OpOperand &use);
/// What all users of a value together read of it, at most all of it: through reshapes and views, and inside dispatches.
/// All of it where it has no users.
Touched touchedOf(mlir::Value value);
/// What the operation that computes a value writes of it.
Touched touchedToMake(mlir::Value value);
/// Of all operands and results of an operation.
Touched touchedAt(mlir::Operation *op);

} // namespace sprig

#include "dialects/Interfaces/TouchInterface.h.inc"
