// Names of what the nn dialect hangs on operations of other dialects, and on its own beside their arguments.
// For whoever writes or reads them; docs/read-a-dump.md tells what they look like in a dump.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace sprig::ir {

/// On a function: a StringAttr, the name of the entry in the package.
inline constexpr llvm::StringLiteral kEntryAttr = "nn.entry";
/// On an argument or a result of a function: a StringAttr, what the model calls it.
inline constexpr llvm::StringLiteral kNameAttr = "nn.name";
/// On a function: a UnitAttr, samples along the first axis do not depend on each other.
inline constexpr llvm::StringLiteral kIndependentSamplesAttr = "nn.independent_samples";
/// On a module: a StringAttr, the JSON of what its steps train (lib/Training).
inline constexpr llvm::StringLiteral kTrainingAttr = "nn.training";
/// On a normalization that was imported: a FloatAttr, the momentum of its running statistics.
inline constexpr llvm::StringLiteral kMomentumAttr = "nn.momentum";

} // namespace sprig::ir
