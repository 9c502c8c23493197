// Interfaces that the dialect attaches to its operations when it is loaded.
#pragma once
#include "mlir/IR/MLIRContext.h"

namespace sprig::kernel {

/// A dispatch touches what its operations do, and can work with the integers that they can work with (Dispatch.cpp).
void attachDispatchModels(mlir::MLIRContext *context);

} // namespace sprig::kernel
