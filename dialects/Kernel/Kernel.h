// The kernel dialect: what is decided about a dispatch's kernel. For targets, which obey it, and for those who choose.
#pragma once
#include "dialects/NN/NNStructure.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttributes.h.inc"

namespace sprig::kernel {

/// The tile that somebody chose for a dispatch: RegisterTileAttr or LoopTileAttr; null for the target's own choice.
mlir::Attribute tileOf(ir::DispatchOp dispatch);
void setTile(ir::DispatchOp dispatch, mlir::Attribute tile);

} // namespace sprig::kernel
