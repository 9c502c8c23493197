// The exec dialect: programs as the runtime executes them.
// For the schedule and plan phases, which write it, and code generation and packaging, which read it.
#pragma once
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/Touch.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/format/Order.h"

namespace sprig::exec {

/// How a command uses a buffer, as bits.
enum class AccessMode : uint8_t { none = 0, read = 1, write = 2, both = 3 };
inline bool reads(AccessMode mode) { return uint8_t(mode) & uint8_t(AccessMode::read); }
inline bool writes(AccessMode mode) { return uint8_t(mode) & uint8_t(AccessMode::write); }

/// Bytes [begin, end) of a buffer that a command touches.
struct BufferAccess {
  mlir::Value buffer;
  AccessMode mode;
  int64_t begin, end;
};

/// The device of the lane that the operation stands in.
mlir::FlatSymbolRefAttr deviceOfCommand(mlir::Operation *command);

} // namespace sprig::exec

#include "dialects/Exec/ExecDialect.h.inc"
#include "dialects/Exec/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/ExecAttributes.h.inc"
#include "dialects/Exec/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.h.inc"

namespace sprig::exec {

/// Where buffers start in the arena, in constants and in scratch: what kernels expect.
inline constexpr int64_t kBufferAlignment = 64;

/// Bytes of a static tensor or memref; an i1 is a byte.
int64_t byteSize(mlir::Type type);

/// Rounds up to the next place where a buffer may start.
inline int64_t alignBuffer(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Fails where the command may not write the buffer.
llvm::LogicalResult verifyWritable(mlir::Operation *command, mlir::Value buffer);

/// Element type and shape as in diagnostics: 32x128xf32.
std::string describe(mlir::Type type);

/// The kernels that commands run, in the order of the module: those that a package has symbols for. The others are only
/// called by composite kernels.
llvm::SmallVector<KernelOp> launchedKernels(mlir::ModuleOp module);

/// What the model calls an operation or a value: the first name in its location; empty where there is none.
llvm::StringRef nameOf(mlir::Location location);
/// What errors call the operation, where the front-end says so (a fused location with a text); empty elsewhere.
llvm::StringRef descriptionOf(mlir::Location location);

/// Checks that `buffers` fit the kernel that `user` names; emits the diagnostic.
mlir::LogicalResult verifyKernelUse(mlir::Operation *user, mlir::FlatSymbolRefAttr kernel, mlir::ValueRange buffers,
                                    mlir::SymbolTableCollection &symbols);
} // namespace sprig::exec
