// Copies columns of a matrix into a panel while a kernel runs: for kernel.pack, and for products of two computed
// matrices.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig::cpu {

/// Where a matrix [depth, columns] lies: element (k, n) at base + k * depthStride + n * columnStride of a 1-d buffer;
/// one of the strides is 1.
struct PanelSource {
  mlir::Value buffer, base;
  int64_t depth, depthStride, columnStride;
};

/// What becomes of a panel's vectors that hold no column: zeros, or for a panel that only its packer reads nothing.
enum class PanelEnd { zeros, open };

/// Writes columns [0, columns) from `source` (already moved to the first) as a panel [depth, 32] at `panel` + `offset`,
/// the rest of their vectors with zeros. At most 32 columns. `change`, where given, maps the stored values of a vector
/// to those to write.
void emitPanel(KernelBuilder &kernel, const PanelSource &source, int64_t columns, mlir::Type elementType,
               mlir::Value panel, mlir::Value offset, PanelEnd end,
               llvm::function_ref<mlir::Value(mlir::Value)> change = nullptr);

/// Transposes 16 vectors of 16 elements in registers.
void turnLines(KernelBuilder &kernel, llvm::SmallVectorImpl<mlir::Value> &lines);

} // namespace sprig::cpu
