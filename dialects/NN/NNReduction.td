//===- NNReduction.td - Reductions, windows, scans, sorts ---------------------------------------------------------------===//

#ifndef SPRIG_NN_NNREDUCTION_TD
#define SPRIG_NN_NNREDUCTION_TD

include "dialects/NN/NNBase.td"

def NN_ReductionCost : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::sprig::nn";
  let genSpecializedAttr = 0;
}
def NN_ReduceKindAttr : EnumAttr<NN_Dialect, NN_ReduceKind, "reduce_kind">;

def NN_ReduceOp : NN_InferredOp<"reduce", [FusesAs<"reduction">], NN_ReductionCost> {
  let summary = "reduction over axes";
  let description = [{
    `axes` are ascending and unique; reduced dimensions disappear, or stay as 1 with `keep_dims`. NaN propagates through
    max and min. The empty reduction gives 0, 1, the lowest, the highest value (of i1: max is "any", min is "all").
    Half types accumulate in f32 and round once.

    Order: when the innermost dimension is reduced, element i of it goes to partial accumulator i mod 16, the reduced
    outer dimensions being traversed in ascending order, and the 16 partial results are combined as a fixed tree
    (distance 8, 4, 2, 1); else each result is one chain in ascending order.
  }];
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keep_dims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $operand `axes` `=` $axes attr-dict `:` type($operand)";
}

def NN_ArgReduceOp : NN_InferredOp<"arg_reduce", [], NN_ReductionCost> {
  let summary = "index (i64) of the largest or smallest element along an axis";
  let description = [{`kind` is max or min; ties take the first index, or the last with `last_index`; the first NaN wins.}];
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$keep_dims,
                       UnitAttr:$last_index);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$kind $operand `axis` `=` $axis attr-dict `:` type($operand)";
}

def NN_CumulativeOp : NN_InferredOp<"cumulative"> {
  let summary = "running sum or product along an axis";
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `axis` `=` $axis attr-dict `:` type($operand)";
}

def NN_TopKOp : NN_InferredOp<"top_k"> {
  let summary = "the k largest (or smallest) elements along an axis, in order, and their indices (i64)";
  let description = [{Equal elements come in the order of their indices. NaN counts as larger than every number.}];
  let arguments = (ins NN_NumberTensor:$operand, I64Attr:$k, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs NN_NumberTensor:$values, StaticShapeTensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def NN_PoolOp : NN_InferredOp<"pool", [FusesAs<"generator">], NN_ReductionCost> {
  let summary = "maximum or sum over sliding windows";
  let description = [{
    `operand` [N, C, spatial...] (or [N, spatial..., C] with `channels_last`); `padding` [low..., high...] is skipped,
    that is, counts as the lowest value or as zero. `kind` is max or sum. Output size per dimension:
    floor((in + low + high - dilation * (window - 1) - 1) / stride) + 1; a window that lies in the padding alone gives
    the empty reduction.
  }];
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_NumberTensor:$operand, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       UnitAttr:$channels_last);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` type($operand)";
}

def NN_ArgMaxPoolOp : NN_InferredOp<"arg_max_pool", [], NN_ReductionCost> {
  let summary = "flat index (i64) of each window's first maximum";
  let description = [{
    The index counts over the whole operand [N, C, spatial...] in row-major order, or with `column_major` over the
    spatial dimensions in column-major order.
  }];
  let arguments = (ins NN_NumberTensor:$operand, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding, UnitAttr:$column_major);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // SPRIG_NN_NNREDUCTION_TD
