// Operations of the nn dialect as a recorded graph: what passes have made goes back to the front-end.
// For the files of this folder.
#pragma once
#include "lib/Frontend/Bridge/Convert.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig::frontend::bridge {

class GraphReader {
public:
  /// Operations that know no place get this one.
  explicit GraphReader(Place otherwise = {}) : otherwise(otherwise) {}

  /// All inputs come before the first operation.
  void addInputs(mlir::ValueRange values);
  /// Operations of a block in its order, those of the set alone where there is one.
  void addOperations(mlir::Block &block, const llvm::DenseSet<mlir::Operation *> *only = nullptr);
  Graph finish(mlir::ValueRange outputs);

private:
  void add(mlir::Operation *op);
  uint32_t number(mlir::Value value);

  Place otherwise;
  Graph graph;
  llvm::DenseMap<mlir::Value, uint32_t> numbers;
};

/// A block, its arguments the inputs and its terminator's operands the outputs.
Graph graphOf(mlir::Block &block, Place otherwise = {});

/// The operations of the values' block that compute them from `known` values.
llvm::DenseSet<mlir::Operation *> neededFor(mlir::ValueRange values, llvm::function_ref<bool(mlir::Value)> isKnown);

} // namespace sprig::frontend::bridge
