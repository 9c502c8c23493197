// Parameters inside a step under construction: each is read once, and set once at the end.
// For the parts of the step builder. New state is added to the module with its initial value.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace sprig::training {

class StateAccess {
public:
  /// Reads are written at the start of the function's body.
  StateAccess(mlir::ModuleOp module, mlir::func::FuncOp function);

  /// The value of a parameter now: what it was set to, else what it is when the step starts.
  mlir::Value get(llvm::StringRef name);
  void set(llvm::StringRef name, mlir::Value value);
  /// The value when the step starts.
  mlir::Value initial(llvm::StringRef name);

  /// Declares state of this type with every element `value`, if it is not there yet.
  mlir::Operation *declare(llvm::StringRef name, mlir::RankedTensorType type, double value);

  /// Declares state that starts as another does, if it is not there yet.
  void declareLike(llvm::StringRef name, llvm::StringRef other);

  /// Writes the nn.set_param operations at the insertion point.
  void finish(mlir::OpBuilder &builder);

private:
  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::Value> reads;
  llvm::MapVector<mlir::StringAttr, mlir::Value> updates;
};

} // namespace sprig::training
