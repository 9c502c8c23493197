// Constants in fewer bytes than they take in memory.
// For the package writer. What is found is kept only where it expands to the very bytes (runtime/format/Expansion.h).
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/format/Expansion.h"
#include <optional>
#include <vector>

namespace sprig {

struct CompactConstant {
  rt::format::Expansion expansion; ///< its offset is not known yet
  /// What it is made of: bytes of its own, or those of a constant that may be there for others, too.
  std::vector<char> bytes;
  mlir::ElementsAttr source;
};

/// Nothing where it would not be worth the time at load: half of the bytes at least go, and a kilobyte.
std::optional<CompactConstant> compactForm(mlir::ElementsAttr value);

} // namespace sprig
