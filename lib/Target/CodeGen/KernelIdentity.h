// What tells kernels apart: a text, and its hash, of all that their code depends on. For targets, which make equal
// kernels once and file their code in the cache.
#pragma once
#include "mlir/IR/Operation.h"
#include <string>

namespace sprig {

/// An operation and what it holds, as far as code depends on it: without names, labels and locations.
std::string describeForCode(mlir::Operation *op);

/// A hash of that.
std::string identityOf(mlir::Operation *op);

/// A hash of a text, in hexadecimal digits.
std::string contentHash(llvm::StringRef text);

} // namespace sprig
