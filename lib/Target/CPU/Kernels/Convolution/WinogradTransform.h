// The transforms of one line of a Winograd tile, on vectors of channels.
// For the conv_winograd emitter, which runs them over columns and then rows. Points in pairs +p and -p share the even
// and the odd part of their polynomials, so a line of 6 takes 12 multiply-adds instead of 22.
#pragma once
#include "dialects/Kernel/Winograd.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig::cpu {

/// Frequencies of a line of inputs.
llvm::SmallVector<mlir::Value> emitInputTransform(KernelBuilder &kernel, const kernel::WinogradLine &line,
                                                  mlir::ValueRange inputs);
/// Outputs of a line of frequencies.
llvm::SmallVector<mlir::Value> emitOutputTransform(KernelBuilder &kernel, const kernel::WinogradLine &line,
                                                   mlir::ValueRange frequencies);

} // namespace sprig::cpu
