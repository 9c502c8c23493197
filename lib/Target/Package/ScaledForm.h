// Constants whose elements are a byte's value, counted from a number and multiplied by a scale, both of its channel:
// the weights of models of eight bits. For the package writer. Found in the numbers, so wherever the model has its
// scales, and however weights are packed.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/format/Expansion.h"
#include <optional>
#include <utility>
#include <vector>

namespace sprig {

/// The expansion and what it is made of. `type`: of f32 or i32.
std::optional<std::pair<rt::format::Expansion, std::vector<char>>> scaledForm(mlir::RankedTensorType type,
                                                                              llvm::ArrayRef<char> bytes);

} // namespace sprig
