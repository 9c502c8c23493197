// The reference interpreter for the command line: check --interpreter and --bisect.
#pragma once
#include "tools/sprig/run/Compare.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// Runs the model in double precision; results are rounded to their element types at the end.
std::vector<data::Array> interpret(const Model &model, const BoundInputs &inputs, const Settings &settings);

/// Compares compiled code with the interpreter operation by operation; says in words which one differs first.
std::string bisectModel(const Model &model, const BoundInputs &inputs, const Settings &settings,
                        const Judgement &judgement);

} // namespace sprig::cli
