// Kernels for single operations of any shape, compiled when Sprig is built: what runs before anything is compiled.
// For the engine. Same bits as compiled code, always (docs/numerics.md).
#pragma once
#include "lib/Frontend/Graph.h"
#include <string>

namespace sprig::frontend {

/// Row-major memory, 64-byte aligned. Up to the end of its last 64 bytes it may be read; a result's block is at least
/// 128 bytes, and all of it may be written.
struct ArrayRef {
  void *data = nullptr;
  const TensorType *type = nullptr;
};

/// Runs a primitive operation on the calling thread. False where there is no generic kernel for it: nothing happened.
/// Throws sprig::Error (runtime) where values are wrong (an index, a division by zero). Any thread may call.
bool runGeneric(const GraphNode &node, std::span<const ArrayRef> operands, std::span<const ArrayRef> results);

/// The instruction set that code runs with, these kernels and compiled ones: "x86-64-v4". The best that the machine has
/// and SPRIG_CPU allows.
std::string codeKind();

} // namespace sprig::frontend
