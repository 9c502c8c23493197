// A mark on functions and programs whose parts follow each other so that they need less memory, as the passes of a
// training step do. From the pass fuse, which sets it, to passes that put commands side by side.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace sprig::kernel {

/// A unit attribute: what runs side by side may not need more memory than the program does in its order.
inline constexpr llvm::StringLiteral kInOrderAttr = "kernel.in_order";

} // namespace sprig::kernel
