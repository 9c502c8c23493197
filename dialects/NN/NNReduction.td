//===- NNReduction.td - Reductions, windows, scans, sorts ---------------------------------------------------------------===//

#ifndef SPRIG_NN_NNREDUCTION_TD
#define SPRIG_NN_NNREDUCTION_TD

include "dialects/NN/NNBase.td"

def NN_ReductionCost : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::sprig::ir";
  let genSpecializedAttr = 0;
}
def NN_ReduceKindAttr : EnumAttr<NN_Dialect, NN_ReduceKind, "reduce_kind">;

def NN_ReduceOp : NN_InferredOp<"reduce", [NN_Vjp, FusesAs<"reduction">], NN_ReductionCost> {
  let summary = "reduction over axes";
  let description = [{
    `axes` are ascending and unique; reduced dimensions disappear, or stay as 1 with `keep_dims`. NaN propagates through
    max and min. The empty reduction gives 0, 1, the lowest, the highest value (of i1: max is "any", min is "all").
    Half types accumulate in f32 and round once.

    Order: when the innermost dimension is reduced, element i of it goes to partial accumulator i mod 16, the reduced
    outer dimensions being traversed in ascending order, and the 16 partial results are combined as a fixed tree
    (distance 8, 4, 2, 1); else each result is one chain in ascending order. On CPUs long sums over the first dimension
    and others are those of each index of the first, added up (docs/numerics.md).
  }] #
      NN_Example<"%x: tensor<2x3x4xf32>",
                 "nn.reduce sum %x axes = [0, 2] {keep_dims} : tensor<2x3x4xf32>",
                 "tensor<1x3x1xf32>">.text;
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keep_dims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $operand `axes` `=` $axes attr-dict `:` type($operand)";
}

def NN_ArgReduceOp : NN_InferredOp<"arg_reduce", [NoGradient], NN_ReductionCost> {
  let summary = "index (i64) of the largest or smallest element along an axis";
  let description = [{`kind` is max or min; ties take the first index, or the last with `last_index`; the first NaN wins.}] #
      NN_Example<"%x: tensor<2x10xf32>",
                 "nn.arg_reduce max %x axis = 1 : tensor<2x10xf32>",
                 "tensor<2xi64>">.text;
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$keep_dims,
                       UnitAttr:$last_index);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$kind $operand `axis` `=` $axis attr-dict `:` type($operand)";
}

def NN_CumulativeOp : NN_InferredOp<"cumulative", [NN_Vjp]> {
  let summary = "running sum or product along an axis";
  let description = [{`kind` is sum or prod; `exclusive` leaves each element itself out, `reverse` runs from the end (ONNX CumSum).}] #
      NN_Example<"%x: tensor<2x10xf32>",
                 "nn.cumulative sum %x axis = 1 {exclusive} : tensor<2x10xf32>",
                 "tensor<2x10xf32>">.text;
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `axis` `=` $axis attr-dict `:` type($operand)";
}

def NN_TopKOp : NN_InferredOp<"top_k", [NN_Vjp]> {
  let summary = "the k largest (or smallest) elements along an axis, in order, and their indices (i64)";
  let description = [{Equal elements come in the order of their indices. NaN counts as larger than every number.

    Example:

    ```mlir
    func.func @example(%x: tensor<2x10xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
      %values, %indices = nn.top_k %x {k = 3 : i64, axis = 1 : i64} : tensor<2x10xf32>
      return %values, %indices : tensor<2x3xf32>, tensor<2x3xi64>
    }
    ```
  }];
  let arguments = (ins NN_NumberTensor:$operand, I64Attr:$k, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs NN_NumberTensor:$values, StaticShapeTensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def NN_PoolOp : NN_InferredOp<"pool", [NN_Vjp, FusesAs<"generator">], NN_ReductionCost> {
  let summary = "maximum or sum over sliding windows";
  let description = [{
    `operand` [N, C, spatial...] (or [N, spatial..., C] with `channels_last`); `padding` [low..., high...] is skipped,
    that is, counts as the lowest value or as zero. `kind` is max or sum. Output size per dimension:
    floor((in + low + high - dilation * (window - 1) - 1) / stride) + 1; a window that lies in the padding alone gives
    the empty reduction.
  }] #
      NN_Example<"%x: tensor<1x3x8x8xf32>",
                 "nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>",
                 "tensor<1x3x4x4xf32>">.text;
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       UnitAttr:$channels_last);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` type($operand)";
}

def NN_PoolGradOp : NN_InferredOp<"pool_grad", [NN_Vjp], NN_ReductionCost> {
  let summary = "gradient of nn.pool: gives each window's cotangent back to the elements of the window";
  let description = [{
    `operand` is that of the pool, `cotangent` has the shape of its result; the result has the operand's shape. With kind
    max a window's cotangent goes to its first maximum (its first NaN, if there is one), with sum to all elements; the
    contributions to an element add up in row-major order of the windows. A window in the padding alone gives nothing.
  }] #
      NN_Example<"%x: tensor<1x3x8x8xf32>, %g: tensor<1x3x4x4xf32>",
                 "nn.pool_grad max %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>",
                 "tensor<1x3x8x8xf32>">.text;
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_FloatTensor:$operand, NN_FloatTensor:$cotangent,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding, UnitAttr:$channels_last);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$kind $operand `,` $cotangent attr-dict `:` type($operand) `,` type($cotangent)";
}

def NN_ArgMaxPoolOp : NN_InferredOp<"arg_max_pool", [NoGradient], NN_ReductionCost> {
  let summary = "flat index (i64) of each window's first maximum";
  let description = [{
    The index counts over the whole operand [N, C, spatial...] in row-major order, or with `column_major` with the
    spatial dimensions of each plane in column-major order.
  }] #
      NN_Example<"%x: tensor<1x3x8x8xf32>",
                 "nn.arg_max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>",
                 "tensor<1x3x4x4xi64>">.text;
  let arguments = (ins NN_NumberTensor:$operand, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding, UnitAttr:$column_major);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // SPRIG_NN_NNREDUCTION_TD
