// Inputs of a model that are its outputs of the call before: states of streaming networks, keys and values of decoders.
// For the command line and the JIT; the pass sprig-keep-states makes state of what is marked here.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>
#include <vector>

namespace sprig {

/// Marks ports of every function, and adds the parameters that keep them, of zeros and of the longest size that any of
/// the functions takes or gives. Each pair is an input's and an output's name; one `*` in both stands for the same
/// text. `compileFrom`: the phase that comes next, at the latest the one that makes states of the marks. Throws usage
/// errors that begin with the pair: names that are not there, types that do not fit, a state that grows where the
/// functions are of one size of it, or their other inputs do not tell which.
void markStates(mlir::ModuleOp module, const std::vector<std::pair<std::string, std::string>> &states,
                const std::string &compileFrom);

} // namespace sprig
