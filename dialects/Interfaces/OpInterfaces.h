// Interfaces that passes ask of operations: scalar body, decomposition, gradient, cost.
// For dialects (which implement them) and passes (which use them); see OpInterfaces.td for the contracts.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace sprig::detail {
/// Elements of all results.
int64_t countResultElements(mlir::Operation *op);
/// Bytes of all operands and results, each once; an i1 is a byte.
int64_t countOperandAndResultBytes(mlir::Operation *op);
} // namespace sprig::detail

namespace sprig {
class ScalarBuilder; // dialects/NN/ScalarBuilder.h
namespace ir {
class VjpExpression; // dialects/NN/VjpExpression.h
}

/// Bytes that an element takes in memory; an i1 is a byte.
int64_t storageBytes(mlir::Type elementType);

/// What an operation is to fusion beside elementwise operations, which have an interface of their own.
enum class FusionKind {
  none,        ///< a kernel of its own
  view,        ///< each result element is one operand element, or a function of its index: read in place by consumers
  reduction,   ///< reduces over axes: joins loops over the operand's shape
  contraction, ///< a matrix product or convolution: takes elementwise consumers as its epilogue
  generator,   ///< each result element is computed on its own from several operand elements; takes consumers too
};

/// The trait that states the fusion kind of an operation (FusesAs in OpInterfaces.td).
template <FusionKind kind> struct FusesAs {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, FusesAs<kind>::template Impl> {};
};

FusionKind fusionKind(mlir::Operation *op);

/// Traits without more to them than their names; see OpInterfaces.td.
template <typename ConcreteType> class NoGradient : public mlir::OpTrait::TraitBase<ConcreteType, NoGradient> {};
template <typename ConcreteType> class MatrixProduct : public mlir::OpTrait::TraitBase<ConcreteType, MatrixProduct> {};
template <typename ConcreteType> class SharesStorage : public mlir::OpTrait::TraitBase<ConcreteType, SharesStorage> {};

/// Whether an operation gives a value that lies in memory already (SharesStorage); null gives none.
bool sharesStorage(mlir::Operation *op);
/// The value whose bytes a value has.
mlir::Value storageOf(mlir::Value value);
/// The other name that a use gives to the bytes of a value; null for a use that reads them or only waits for them.
mlir::Value sharedBy(mlir::OpOperand &use);
} // namespace sprig

#include "dialects/Interfaces/OpInterfaces.h.inc"

namespace sprig {
/// Puts a composite's decomposition in its place; an error at it where it has none.
mlir::LogicalResult decomposeInPlace(DecomposableOpInterface composite);
/// Flops of a block's operations, and of those in regions of what has no cost of its own.
int64_t flopsOf(mlir::Block &block);
} // namespace sprig
