// What tensors programs can hold at all. For inference, constants, and readers that check what they are given.
#pragma once
#include "mlir/IR/BuiltinTypes.h"

namespace sprig::ir {

/// No tensor has more elements: their bytes and a few times that can still be counted.
inline constexpr int64_t kMostElements = 1ll << 48;
bool isCountable(llvm::ArrayRef<int64_t> shape);

/// Whether buffers and files have elements of this type: f64, f32, f16, bf16, i64, i32, i16, i8, ui64, ui32, ui16, ui8
/// and i1.
bool isStorable(mlir::Type element);

} // namespace sprig::ir
