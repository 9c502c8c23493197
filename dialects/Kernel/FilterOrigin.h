// Which filter a constant in frequencies was made of: the package keeps that one, and the loader makes the other.
// For the pass `winograd`, which notes it, and the package writer, which asks. It holds for the life of the context; a
// program that went through text has forgotten.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include <array>
#include <optional>

namespace sprig::kernel {

struct FilterOrigin {
  mlir::ElementsAttr filter;   ///< outputs x channels x height x width
  std::array<int64_t, 2> tile; ///< outputs of the short convolution of each dimension
};

void noteOrigin(mlir::ElementsAttr transformed, const FilterOrigin &origin);
std::optional<FilterOrigin> originOf(mlir::ElementsAttr transformed);

/// Where the dialect keeps them.
void registerFilterOrigins(mlir::Dialect &dialect);

} // namespace sprig::kernel
