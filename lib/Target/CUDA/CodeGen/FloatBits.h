// The bits of floats of which a part is kept, as quantisers keep that of a sum: a store of 8 or 16 bits of a register
// that an operation on floats has written. PTX says that the store takes the lowest bits of it, ptxas (13.0, all levels
// and architectures tried) converts the float to an integer instead. For PtxEmitter.
#pragma once
#include "llvm/IR/Module.h"

namespace sprig::cuda {

/// Lets such bits pass another register, by a move that the back-end does not see through.
void moveFloatBits(llvm::Module &module);

} // namespace sprig::cuda
