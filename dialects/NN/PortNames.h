// What the arguments and results of a model's functions are called. For whoever takes or shows them by name.
#pragma once
#include "mlir/IR/Operation.h"
#include <string>
#include <vector>

namespace sprig::ir {

/// Names of a function's arguments or results: their `nn.name`, else that of the state that they are, else input0,
/// output0, ... Numbers count what is no state, as a package's inputs and outputs do.
std::vector<std::string> argumentNames(mlir::Operation *function);
std::vector<std::string> resultNames(mlir::Operation *function);

/// Gives arguments and results without a name the one that they have so far, whatever becomes a state later.
void keepPortNames(mlir::Operation *function);

} // namespace sprig::ir
