// What kernels hand to each other, and how much of it one of two threads has to fetch of what the other one wrote.
// For choose-threads, which shares out what brings less of it, and for packages, which tell `sprig simulate`.
#pragma once
#include "dialects/Exec/Exec.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig::exec {

/// A kernel's operand, where some dispatch passes a buffer.
struct KernelUse {
  KernelOp kernel;
  unsigned operand;
  DispatchOp dispatch;
  int64_t touched; ///< bytes of the buffer
};
/// What kernels hand to each other.
struct Handed {
  int64_t bytes;
  llvm::SmallVector<KernelUse> writers, readers;
};

/// Whether a kernel's tiles go to several threads.
inline bool isShared(KernelOp kernel) { return kernel.getTiles() / 2 >= kernel.getGrain(); }

/// Of a buffer that some dispatch writes and some reads, without constants; nothing of kernels that `isLeft` names.
llvm::SmallVector<Handed> handedBuffers(mlir::Operation *root, mlir::SymbolTableCollection &symbols,
                                        llvm::function_ref<bool(KernelOp)> isLeft);

/// What the one of two threads that fetches more has to fetch of what the other one wrote.
double bytesFetched(KernelUse writer, bool writerIsShared, KernelUse reader, bool readerIsShared, int64_t size);

/// The sum of it for each dispatch, as its kernel and those before it are shared.
llvm::DenseMap<mlir::Operation *, int64_t> fetchedBytes(ProgramOp program, mlir::SymbolTableCollection &symbols);

} // namespace sprig::exec
