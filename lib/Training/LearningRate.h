// The learning rate of a step as an expression of the step counter: no recompilation when it changes.
// For the step builder; the same formulas as lrAt of Schedule.h, in double precision.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// A tensor<f64>, from the base rate (tensor<f64>) and the number of steps done (tensor<i64>).
mlir::Value learningRate(ir::Expression &e, const ScheduleConfig &schedule, mlir::Value base, mlir::Value step);

} // namespace sprig::training
