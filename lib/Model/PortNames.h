// What the arguments and results of a model's functions are called. For whoever takes or shows them by name.
#pragma once
#include "mlir/IR/Operation.h"
#include <string>
#include <vector>

namespace sprig {

/// Names of a function's arguments or results: their `nn.name`, else input0, output0, ... as the schedule names them.
std::vector<std::string> argumentNames(mlir::Operation *function);
std::vector<std::string> resultNames(mlir::Operation *function);

} // namespace sprig
