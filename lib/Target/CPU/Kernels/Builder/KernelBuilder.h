// The tool of every emitter: an ElementBuilder inside a kernel function, with the kernel's arguments and its tiles.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig::cpu {

/// Elements from which on what would be one tile is cut in two: where two threads share what is beside it, each then
/// has its own part of it, too.
inline constexpr int64_t kHalvedElements = 2048;

class KernelBuilder : public ElementBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::func::FuncOp function, kernel::DispatchOp dispatch,
                const CpuArch &target);

  const CpuArch &target;
  mlir::func::FuncOp function;
  kernel::DispatchOp dispatch;

  // The kernel's arguments.
  mlir::Value tileBegin() { return function.getArgument(0); }
  mlir::Value tileEnd() { return function.getArgument(1); }
  mlir::Value scratch() { return function.getArgument(2); }
  mlir::Value status() { return function.getArgument(3); }
  /// Where the buffers are no arguments: a pointer to those of all operands, then of all results.
  bool hasBufferList() {
    return function.getNumArguments() != 4 + dispatch->getNumOperands() + dispatch->getNumResults();
  }
  mlir::Value bufferList() { return function.getArgument(4); }
  /// The buffer of an argument of the dispatch's region.
  mlir::Value operandBuffer(mlir::Value argument) {
    return operandBuffer(llvm::cast<mlir::BlockArgument>(argument).getArgNumber());
  }
  mlir::Value operandBuffer(unsigned operand) { return function.getArgument(4 + operand); }
  mlir::Value resultBuffer(unsigned result) override {
    return function.getArgument(4 + dispatch->getNumOperands() + result);
  }
  mlir::Value bufferOf(mlir::BlockArgument argument) override { return operandBuffer(argument); }
  mlir::Value scratchBuffer(int64_t byteOffset, mlir::MemRefType type) override;

  void forTiles(llvm::function_ref<void(mlir::Value tile)> body);
  /// Of tiles in a space of `outer` times `inner`: `tile` itself in a call that has part of them; else the one whose
  /// turn it is when the inner dimension is the outer one. So threads share what is outer, and one thread reads what is
  /// inner once.
  mlir::Value innerFirstIfWhole(mlir::Value tile, int64_t outer, int64_t inner);
  void reportIf(mlir::Value condition, int32_t code, int32_t op, mlir::Value value, mlir::Value bound) override;
  /// Ends the function; called by emitKernel.
  void finish();

private:
  mlir::Value errorFlag; // memref<i32>, made on first use
};

} // namespace sprig::cpu
