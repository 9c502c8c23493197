// The kernel dialect without its operations: tiles, registration. Operations have a header for each .td that defines
// them, as those of nn (KernelDispatch.h, KernelContraction.h).
#pragma once
#include "dialects/NN/NNDialect.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttributes.h.inc"

namespace sprig::kernel {

/// The operations of a kind join the dialect (OpKind.cpp.in).
void registerDispatchOperations(mlir::Dialect &dialect);
void registerContractionOperations(mlir::Dialect &dialect);

} // namespace sprig::kernel
