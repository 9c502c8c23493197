// A recorded graph as operations of the nn dialect.
// For the files of this folder. What does not fit is thrown as sprig::Error that names operation, layer and line.
#pragma once
#include "lib/Frontend/Bridge/Convert.h"
#include "lib/JIT/ContextPool.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace sprig::frontend::bridge {

/// A context that others have used before, with the dialects of graphs loaded, and an empty module in it.
struct Workspace {
  Workspace();
  mlir::MLIRContext *context() { return lease.context.get(); }
  ContextPool::Lease lease;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class Lowering {
public:
  /// `isDivided`: by ranks; means of all elements become operations that say so.
  explicit Lowering(mlir::MLIRContext *context, bool isDivided = false) : context(context), isDivided(isDivided) {}

  /// Appends a function of these inputs, whose body stays open: no terminator. `nameOf` an input gives its location.
  mlir::func::FuncOp makeFunction(mlir::ModuleOp module, llvm::StringRef name, llvm::ArrayRef<TensorType> inputs);

  /// Appends a function that gives what the graph does.
  mlir::func::FuncOp addFunction(mlir::ModuleOp module, llvm::StringRef name, const Graph &graph);

  /// Writes the nodes at the builder's place; gives all values, the inputs first. Calls `onNode` with each operation.
  llvm::SmallVector<mlir::Value>
  lowerNodes(mlir::OpBuilder &builder, const Graph &graph, llvm::ArrayRef<mlir::Value> inputs,
             llvm::function_ref<void(size_t node, mlir::Operation *op)> onNode = nullptr);

private:
  mlir::Operation *lowerNode(mlir::OpBuilder &builder, const Graph &graph, const GraphNode &node,
                             llvm::ArrayRef<mlir::Value> values);
  mlir::Operation *lowerConstant(mlir::OpBuilder &builder, const Graph &graph, const GraphNode &node);
  void lowerRegion(mlir::Region &region, const Graph &graph, mlir::Location location);

  mlir::MLIRContext *context;
  bool isDivided;
  AttributeWriter attributes;
};

/// Ends the function at the builder's place: it gives these values.
void giveResults(mlir::OpBuilder &builder, mlir::func::FuncOp function, mlir::ValueRange results);

/// The values that a graph gives.
llvm::SmallVector<mlir::Value> outputsOf(const Graph &graph, llvm::ArrayRef<mlir::Value> values);

} // namespace sprig::frontend::bridge
