// The reference interpreter for the command line: check --interpreter.
#pragma once
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Runs the model in double precision; results are rounded to their element types at the end.
std::vector<data::Array> interpret(const Model &model, const BoundInputs &inputs, const Settings &settings);

} // namespace sprig::cli
