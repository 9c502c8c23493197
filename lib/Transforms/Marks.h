// Whether the differentiate pass drops the marks that decompositions put around values for its sake. For callers whose
// results are differentiated once more.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace sprig {

/// On a function: a UnitAttr, nn.stop_gradient and nn.custom_gradient stay, so that a later request for gradients finds
/// them. The caller removes it.
inline constexpr llvm::StringLiteral kKeepMarksAttr = "keep_marks";

} // namespace sprig
