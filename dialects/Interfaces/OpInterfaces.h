// Interfaces that passes ask of operations: scalar body, decomposition, cost.
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
/// Bytes that an element takes in memory; an i1 is a byte.
int64_t storageBytes(mlir::Type elementType);
} // namespace sprig

#include "dialects/Interfaces/OpInterfaces.h.inc"
