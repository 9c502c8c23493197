// The tool of every emitter of CUDA kernels: an ElementBuilder inside a gpu.func, with the kernel's arguments, what its
// threads are and how they meet.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace sprig::cuda {

inline constexpr int64_t kWarp = CudaArch::kWarp;
/// Elements of four bytes in the widest access of a thread, 128 bits; rows in shared memory are padded to it.
inline constexpr int64_t kQuad = 4;

class GpuBuilder : public ElementBuilder {
public:
  /// In a function of makeGpuFunction, which begins with the buffers of so many operands and results.
  GpuBuilder(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp function, unsigned operands, unsigned results,
             const CudaArch &arch, int32_t firstOperation);

  mlir::gpu::GPUFuncOp function;
  const int64_t threads; // of the block
  const CudaArch &arch;
  const int32_t firstOperation;    // that errors number
  uint32_t dynamicSharedBytes = 0; // that the kernel asks for

  mlir::Value bufferOf(mlir::BlockArgument argument) override { return buffers[argument.getArgNumber()]; }
  mlir::Value resultBuffer(unsigned result) override { return buffers[operands + result]; }
  mlir::Value status() { return argument(3); }
  mlir::Value firstTile() { return argument(1); }
  mlir::Value scratchBuffer(int64_t byteOffset, mlir::MemRefType type) override;
  /// Static shared memory of the block, its own for each call.
  mlir::Value sharedBuffer(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Dynamic shared memory of the block, which all calls give from a byte on: a multiple of 16.
  mlir::Value dynamicSharedBuffer(int64_t elements, mlir::Type element, int64_t byteOffset = 0);
  /// A part of one piece of shared memory that is as large as all such parts need.
  mlir::Value sharedView(int64_t byteOffset, mlir::MemRefType type);

  /// The place of the thread in its block.
  mlir::Value thread() { return threadId; }
  /// All threads of the block meet, and see what each has written before.
  void barrier();
  /// Begins to copy `width` f32, 1 or 4, from a buffer to shared memory (cp.async); with `exists` (null: true) not set
  /// zeros come in their place, and nothing is read. A copy belongs to the group that is ended next.
  void copyAsync(mlir::Value from, mlir::Value fromIndex, mlir::Value to, mlir::Value toIndex, int64_t width,
                 mlir::Value exists);
  void endCopyGroup();
  /// Waits for the thread's own groups but the last so many. Others see what they copied behind a barrier.
  void waitForCopies(int64_t groupsLeft);
  /// The f32, made here rather than in the branch that takes it: where operands would have to be kept until then.
  mlir::Value pin(mlir::Value value);
  /// The value of the lane whose number differs in the bits of `offset`; all lanes of the warp have to be there.
  mlir::Value shuffleXor(mlir::Value value, int64_t offset);

  /// Calls `body` at the positions [0, total) that belong to the thread in this tile, of `threads * perThread`
  /// positions: of each of several rounds neighbours to neighbouring threads.
  void forThreads(mlir::Value tile, int64_t total, int64_t perThread, llvm::function_ref<void(mlir::Value i)> body);

  void reportIf(mlir::Value condition, int32_t code, int32_t op, mlir::Value value, mlir::Value bound) override;

private:
  mlir::Value argument(unsigned fromEnd) {
    mlir::Block &entry = function.getBody().front();
    return entry.getArgument(function.getFunctionType().getNumInputs() - fromEnd);
  }

  const unsigned operands;
  llvm::SmallVector<mlir::Value> buffers;
  mlir::Value threadId;
  mlir::BlockArgument sharedArena;
};

} // namespace sprig::cuda
