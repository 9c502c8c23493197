// Filters in the frequencies of Winograd's short convolutions. For the winograd pass.
#pragma once
#include "dialects/Kernel/Winograd.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace sprig::cpu {

/// A filter [O, C, height, width] of f32 as the panels of kernel.conv_winograd: transformed in double precision,
/// rounded once.
mlir::ElementsAttr transformFilter(mlir::ElementsAttr filter, const kernel::WinogradLine &vertical,
                                   const kernel::WinogradLine &horizontal);

} // namespace sprig::cpu
