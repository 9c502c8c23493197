// The kernel dialect without its operations: tiles, registration. Operations have a header for each .td that defines
// them, as those of nn (KernelDispatch.h, KernelContraction.h).
#pragma once
#include "dialects/NN/NNDialect.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttributes.h.inc"

namespace sprig::kernel {

/// On a module: an ArrayAttr of strings, the devices that its operations are placed on; without it there is one.
inline constexpr llvm::StringLiteral kDevicesAttr = "kernel.devices";
/// On an operation of a function or a parameter: an i64, the number of its device among those; 0 without it. Written by
/// `place`, obeyed by `fuse` and `schedule`.
inline constexpr llvm::StringLiteral kDeviceAttr = "kernel.device";
/// On a function, and the program that becomes of it: an i64 of 2 or more, in how many pieces of so few samples as it
/// takes and gives a call has them. Written by `split-samples`; `repeat-pieces` makes commands of all pieces of it.
inline constexpr llvm::StringLiteral kPiecesAttr = "kernel.pieces";

/// In how many pieces a call has its samples; 1 without the attribute.
int64_t piecesOf(mlir::Operation *op);
/// The number of an operation's device.
unsigned deviceOf(mlir::Operation *op);
/// The first needs no attribute.
void setDevice(mlir::Operation *op, unsigned device);

/// The operations of a kind join the dialect (OpKind.cpp.in).
void registerDispatchOperations(mlir::Dialect &dialect);
void registerContractionOperations(mlir::Dialect &dialect);

} // namespace sprig::kernel
