// The evaluator of kernel.conv_winograd. For the table of evaluators.
#pragma once
#include "lib/Interpreter/Evaluation.h"

namespace sprig::interp {
void addWinograd(EvaluatorTable &table);
} // namespace sprig::interp
