// Short ways to write index arithmetic, loops, and loads and stores that convert between storage and compute types, at
// an OpBuilder's insertion point. For what all targets share of their kernels (Evaluator.h), which know neither the
// function that they are part of nor the device.
//
// Types: an element has a storage type (in memory: unsigned integers signless, i1 as i8) and a compute type (f16 and
// bf16 as f32, the rest as stored, i1 as i1). Every function that takes or gives a value works on scalars and on 1-d
// vectors. A half type is rounded after each operation, so that fused and separate operations have the same bits.
#pragma once
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace sprig {

/// The virtual vector width of kernels on every instruction set, and the number of a reduction's partial accumulators.
inline constexpr int64_t kLanes = kPartials;

mlir::Type storageType(mlir::Type elementType);
mlir::Type computeType(mlir::Type elementType);
mlir::MemRefType bufferType(mlir::RankedTensorType tensor);
inline bool isHalf(mlir::Type type) { return type.isF16() || type.isBF16(); }

/// Of a 1-d vector.
inline int64_t lanesOf(mlir::Value vector) { return llvm::cast<mlir::VectorType>(vector.getType()).getDimSize(0); }

/// What a processor has instructions for; without them the same is spelled out in others.
struct Instructions {
  bool fma = true;  // else a product and a sum, each rounded
  bool f16c = true; // conversions between f32 and f16
};

class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc, Instructions instructions)
      : b(builder), loc(loc), instructions(instructions) {}
  virtual ~ElementBuilder() = default;

  mlir::OpBuilder &b;
  mlir::Location loc;

  /// The buffer of an argument of the region at hand.
  virtual mlir::Value bufferOf(mlir::BlockArgument argument) = 0;
  virtual mlir::Value resultBuffer(unsigned result) = 0;
  /// A part of the kernel's scratch memory, `byteOffset` (a multiple of 64) into it, as a buffer of the given type.
  virtual mlir::Value scratchBuffer(int64_t byteOffset, mlir::MemRefType type) = 0;
  /// Where `condition` holds, records the kernel's first error (sprig/rt/kernel.h); execution goes on, so the caller
  /// must keep what follows harmless. `value` and `bound` are i64.
  virtual void reportIf(mlir::Value condition, int32_t code, int32_t op, mlir::Value value, mlir::Value bound) = 0;
  /// The same elements as a 1-d buffer.
  mlir::Value flat(mlir::Value buffer);
  /// That of an argument.
  mlir::Value flatOperand(mlir::Value argument) { return flat(bufferOf(llvm::cast<mlir::BlockArgument>(argument))); }

  // Index arithmetic; constants fold.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b); // of a value that is not negative
  mlir::Value rem(mlir::Value a, int64_t b);
  /// The indices of position `linear` in a row-major space of these sizes.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> sizes);
  /// The position of indices in a row-major space of these sizes.
  mlir::Value linearize(mlir::ValueRange indices, llvm::ArrayRef<int64_t> sizes);

  // Control flow. Bodies insert at `b`.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step, llvm::function_ref<void(mlir::Value i)> body);
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange initial,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange carried)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// Distinguishes the last of `count` positions where it `differs` from the others.
  void ifLast(mlir::Value position, int64_t count, bool differs, llvm::function_ref<void(bool last)> body);

  // Values.
  mlir::Value constant(mlir::Type computeType, double value); // truncated for integers
  /// The scalar of a splat, widened.
  mlir::Value splatConstant(mlir::DenseElementsAttr value);
  mlir::Value splat(mlir::Value scalar, int64_t lanes = kLanes);
  /// The same number in each lane of a vector; integers wrap.
  mlir::Value constant(mlir::TypedAttr number, int64_t lanes);
  mlir::Value constant(mlir::IntegerType element, int64_t number, int64_t lanes);
  mlir::Value zero(mlir::Type computeType, int64_t lanes = 0); // 0 lanes: a scalar
  /// A mask of the lanes [0, count).
  mlir::Value mask(int64_t count, int64_t lanes = kLanes);
  mlir::Value mask(mlir::Value count, int64_t lanes = kLanes);

  // Memory. `elementType` is the nn element type; `maskValue` leaves lanes out (they read as zero).
  mlir::Value load(mlir::Value buffer, mlir::ValueRange indices, mlir::Type elementType);
  mlir::Value loadVector(mlir::Value buffer, mlir::ValueRange indices, mlir::Type elementType,
                         mlir::Value maskValue = {}, int64_t lanes = kLanes);
  /// Rounds a half type; the caller has the compute type's value.
  void store(mlir::Value value, mlir::Value buffer, mlir::ValueRange indices, mlir::Type elementType,
             mlir::Value maskValue = {});

  // Conversions.
  mlir::Value widen(mlir::Value stored, mlir::Type elementType);    // storage to compute
  mlir::Value narrow(mlir::Value computed, mlir::Type elementType); // compute to storage
  mlir::Value round(mlir::Value computed, mlir::Type elementType);  // to what storing and loading would give

  // Arithmetic.
  /// Emits an elementwise operation on compute values and rounds its result.
  mlir::Value apply(mlir::Operation *elementwise, mlir::ValueRange arguments);
  /// a * b + c, in one rounding where the target has it; integers wrap.
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);

protected:
  /// What unmasked vectors in memory are aligned to, where they have as many bytes; 0: to their elements.
  int64_t vectorAlignment = 0;

private:
  int64_t alignmentOf(mlir::VectorType stored) const;

  Instructions instructions;
};

// Comparisons that say which of two comes first; NaN has its place in them.

/// Whether a precedes b: larger (or smaller) first, NaN counting as larger than every number.
mlir::Value precedes(ElementBuilder &kernel, mlir::Type elementType, bool largest, mlir::Value a, mlir::Value b);

/// Ordered comparison of compute values: a > b, or a < b, or (with `orEqual`) equal too.
mlir::Value isBeyond(ElementBuilder &kernel, mlir::Type elementType, bool larger, bool orEqual, mlir::Value a,
                     mlir::Value b);
mlir::Value isNan(ElementBuilder &kernel, mlir::Value value);

} // namespace sprig
