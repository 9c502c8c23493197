// What one thread computes along a slice or a window: running sums, best elements, scatters. For emitters of every
// target, whose dispatches hold these operations alone. Buffers are 1-d.
#pragma once
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/Kernels/Evaluator.h"

namespace sprig {

/// nn.cumulative of the slice that begins at `base`: one chain along the axis, of several neighbours where lanes > 1.
void accumulate(ElementBuilder &kernel, ir::CumulativeOp op, mlir::Value from, mlir::Value to, mlir::Value base,
                mlir::Value mask, int64_t lanes);

/// nn.top_k of one of outer * inner slices along the axis: inserts each element into the sorted list of the best so
/// far, which lies in the results.
void keepBest(ElementBuilder &kernel, ir::TopKOp op, mlir::Value from, mlir::Value values, mlir::Value indices,
              mlir::Value slice);

/// nn.arg_reduce: whether a later element takes the place of the best so far. The first NaN stays.
mlir::Value replacesBest(ElementBuilder &kernel, ir::ArgReduceOp op, mlir::Value next, mlir::Value best);

/// nn.arg_max_pool: the index of the first maximum of the window at an output of a plane, which is a sample's channel.
mlir::Value firstMaximum(Evaluator &scalars, ir::ArgMaxPoolOp op, mlir::Value from, mlir::Value plane,
                         mlir::Value output);

/// What an element becomes: the update itself, or its combination with the old value.
mlir::Value scatterInto(ElementBuilder &kernel, ir::ScatterKind kind, mlir::Type elementType, mlir::Value old,
                        mlir::Value update);

} // namespace sprig
