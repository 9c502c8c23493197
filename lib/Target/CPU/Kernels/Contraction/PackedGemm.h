// The product of a row-major matrix and packed panels, cut into tiles of some rows times some panels.
// For matmul_packed, and for convolutions that are matrix products.
#pragma once
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"

namespace sprig::cpu {

class CodedPanels;
class UnpackedPanels;

/// Panels of so many elements stay in the cache from one block of rows to the next.
constexpr int64_t kSmallPanels = 64 * 1024;

/// A block of so many rows is worth two halves where the panels are small: what follows is cut by rows as well, and
/// each of two threads then reads what it wrote itself.
constexpr int64_t kHalvedRows = 28;

/// Up to so many rows read numbers of a few bits from their panels themselves; more have them unpacked once.
constexpr int64_t kNarrowRows = 4;

struct PackedGemm {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t interleave = 1; // rows of panels side by side: of wider sums
  int64_t bits = 0;       // of what panels hold in NarrowPlaces; 0: they hold numbers
  bool mayUnpack = true;  // panels of `bits` for many rows

  kernel::PanelPlaces places() const { return {depth, std::max<int64_t>(depth, 1), interleave}; }

  int64_t panelSize() const { return bits ? kernel::NarrowPlaces{depth, bits}.size() : places().size(); }
  /// Of an unpacked panel: whole words of bytes, or rows of f32.
  int64_t unpackedBytes() const {
    return interleave > 1 ? 2 * panelSize() : depth * kPanelWidth * int64_t(sizeof(float));
  }
  bool unpacks() const { return bits && mayUnpack && rows > kNarrowRows; }

  KernelPlan plan(const Epilogue &epilogue) const;
  /// left: [rows, depth], panels: as kernel.pack makes them; `elementType` is that of the sums.
  void emit(KernelBuilder &kernel, const Epilogue &epilogue, mlir::Value left, mlir::Value panels,
            mlir::Type elementType) const;
  /// The same of panels that hold `bits` of each number: tiles take them apart themselves, or unpack their panel.
  void emit(KernelBuilder &kernel, const Epilogue &epilogue, mlir::Value left, const CodedPanels &panels,
            mlir::Type elementType) const;
  void emit(KernelBuilder &kernel, const Epilogue &epilogue, mlir::Value left, const UnpackedPanels &panels,
            mlir::Type elementType) const;

private:
  /// What tiles read: panels of `whole` numbers, one that `unpacked` leaves there, or those that `direct` takes apart.
  struct Right {
    mlir::Value whole;
    const UnpackedPanels *unpacked = nullptr;
    const CodedPanels *direct = nullptr;
  };
  void emitTiles(KernelBuilder &kernel, const Epilogue &epilogue, mlir::Value left, const Right &right,
                 mlir::Type elementType) const;
};

} // namespace sprig::cpu
