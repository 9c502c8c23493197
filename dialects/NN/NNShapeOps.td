//===- NNShapeOps.td - Operations that move elements --------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNSHAPEOPS_TD
#define SPRIG_NN_NNSHAPEOPS_TD

include "dialects/NN/NNBase.td"

def NN_ConstantOp : NN_Op<"constant", [Pure, NoGradient, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant tensor";
  let description = [{The value is dense, a splat or a dense resource; splats stay splats through all rewrites.}] #
      NN_Example<"",
                 "nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>",
                 "tensor<3xf32>">.text;
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def NN_IotaOp : NN_Op<"iota", [Pure, NoGradient, CostOpInterface, FusesAs<"view">]> {
  let summary = "the index along an axis";
  let description = [{Element [..., i, ...] is i, converted to the element type.}] #
      NN_Example<"",
                 "nn.iota axis = 1 : tensor<2x4xf32>",
                 "tensor<2x4xf32>">.text;
  let arguments = (ins I64Attr:$axis);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "`axis` `=` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def NN_ReshapeOp : NN_Op<"reshape", [Pure, NN_Vjp, CostOpInterface, SharesStorage]> {
  let summary = "the same elements in another shape, row-major";
  let description = [{No element moves: between dispatches it is a view.}] #
      NN_Example<"%x: tensor<2x6xf32>",
                 "nn.reshape %x : tensor<2x6xf32> to tensor<3x4xf32>",
                 "tensor<3x4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def NN_BroadcastOp : NN_Op<"broadcast", [Pure, NN_Vjp, CostOpInterface, FusesAs<"view">]> {
  let summary = "repeats along dimensions of size 1 and new leading ones (NumPy's broadcast_to)";
  let description = [{Elementwise operations broadcast by themselves; this is for a shape that nothing else gives.}] #
      NN_Example<"%x: tensor<3x1xf32>",
                 "nn.broadcast %x : tensor<3x1xf32> to tensor<2x3x4xf32>",
                 "tensor<2x3x4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def NN_TransposeOp : NN_InferredOp<"transpose", [NN_Vjp, FusesAs<"view">]> {
  let summary = "permutes dimensions: dimension i of the result is dimension permutation[i] of the operand";
  let description = [{As numpy.transpose.}] #
      NN_Example<"%x: tensor<2x3x4xf32>",
                 "nn.transpose %x [2, 0, 1] : tensor<2x3x4xf32>",
                 "tensor<4x2x3xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand)";
  let hasFolder = 1;
}
def NN_SliceOp : NN_InferredOp<"slice", [NN_Vjp, FusesAs<"view">]> {
  let summary = "every steps[i]-th element from starts[i], sizes[i] of them; steps may be negative";
  let description = [{Element i of a dimension of the result is element starts + i * steps of the operand, which must be there.}] #
      NN_Example<"%x: tensor<4x8xf32>",
                 "nn.slice %x starts = [1, 7] sizes = [2, 4] steps = [1, -2] : tensor<4x8xf32>",
                 "tensor<2x4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$steps);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `starts` `=` $starts `sizes` `=` $sizes `steps` `=` $steps attr-dict `:` type($operand)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def NN_ConcatOp : NN_InferredOp<"concat", [NN_Vjp]> {
  let summary = "joins tensors along an axis";
  let description = [{The operands agree in element type and in every other dimension.}] #
      NN_Example<"%x: tensor<2x3xf32>, %y: tensor<2x5xf32>",
                 "nn.concat %x, %y axis = 1 : tensor<2x3xf32>, tensor<2x5xf32>",
                 "tensor<2x8xf32>">.text;
  let arguments = (ins Variadic<NN_Tensor>:$operands, I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operands `axis` `=` $axis attr-dict `:` type($operands)";
  let hasFolder = 1;
}
def NN_PadMode : I32EnumAttr<"PadMode", "padding mode", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"edge", 1>, I32EnumAttrCase<"reflect", 2>,
    I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::sprig::ir";
  let genSpecializedAttr = 0;
}
def NN_PadModeAttr : EnumAttr<NN_Dialect, NN_PadMode, "pad_mode">;
def NN_PadOp : NN_InferredOp<"pad", [NN_Vjp, FusesAs<"generator">]> {
  let summary = "adds elements around a tensor";
  let description = [{
    low[i] and high[i] elements before and after dimension i; `value` (a tensor of one element) fills them in mode
    constant. Amounts are not negative (slice for that).
  }] #
      NN_Example<"%x: tensor<2x3xf32>, %v: tensor<f32>",
                 "nn.pad constant %x, %v low = [0, 1] high = [0, 2] : tensor<2x3xf32>, tensor<f32>",
                 "tensor<2x6xf32>">.text;
  let arguments = (ins NN_PadModeAttr:$mode, NN_Tensor:$operand, NN_Tensor:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$mode $operand `,` $value `low` `=` $low `high` `=` $high attr-dict `:` type($operand) `,` type($value)";
  let hasFolder = 1;
}
def NN_GatherOp : NN_InferredOp<"gather", [NN_Vjp, FusesAs<"generator">]> {
  let summary = "slices along an axis, picked by indices";
  let description = [{
    result[p..., i..., s...] = operand[p..., indices[i...], s...] with p before and s after `axis`. A negative index counts
    from the end; one out of range is an error at run time.
  }] #
      NN_Example<"%x: tensor<10x4xf32>, %i: tensor<3xi64>",
                 "nn.gather %x, %i axis = 0 : tensor<10x4xf32>, tensor<3xi64>",
                 "tensor<3x4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, NN_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `axis` `=` $axis attr-dict `:` type($operand) `,` type($indices)";
  let hasCanonicalizer = 1;
}
def NN_GatherElementsOp : NN_InferredOp<"gather_elements", [NN_Vjp, FusesAs<"generator">]> {
  let summary = "result[.., i, ..] = operand[.., indices[.., i, ..], ..] along an axis";
  let description = [{As ONNX GatherElements. A negative index counts from the end; one out of range is an error at run time.}] #
      NN_Example<"%x: tensor<3x4xf32>, %i: tensor<2x4xi64>",
                 "nn.gather_elements %x, %i axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>",
                 "tensor<2x4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, NN_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `axis` `=` $axis attr-dict `:` type($operand) `,` type($indices)";
}
def NN_GatherNdOp : NN_InferredOp<"gather_nd", [NN_Vjp, FusesAs<"generator">]> {
  let summary = "slices picked by index tuples (the last dimension of indices), as ONNX GatherND";
  let description = [{A negative index counts from the end; one out of range is an error at run time.}] #
      NN_Example<"%x: tensor<3x4x5xf32>, %i: tensor<6x2xi64>",
                 "nn.gather_nd %x, %i : tensor<3x4x5xf32>, tensor<6x2xi64>",
                 "tensor<6x5xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, NN_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices attr-dict `:` type($operand) `,` type($indices)";
}
def NN_ScatterKind : I32EnumAttr<"ScatterKind", "how a scatter combines", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::sprig::ir";
  let genSpecializedAttr = 0;
}
def NN_ScatterKindAttr : EnumAttr<NN_Dialect, NN_ScatterKind, "scatter_kind">;
def NN_ScatterElementsOp : NN_InferredOp<"scatter_elements", [NN_Vjp]> {
  let summary = "writes updates at indices along an axis into a copy of operand, in ascending order, as ONNX ScatterElements";
  let description = [{`kind` says how an update meets what is there: none replaces it, add, mul, max and min combine. An index out of range is an error at run time.}] #
      NN_Example<"%x: tensor<3x4xf32>, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>",
                 "nn.scatter_elements add %x, %i, %u axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>",
                 "tensor<3x4xf32>">.text;
  let arguments = (ins NN_ScatterKindAttr:$kind, NN_Tensor:$operand, NN_IndexTensor:$indices, NN_Tensor:$updates,
                       I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $operand `,` $indices `,` $updates `axis` `=` $axis attr-dict `:` type($operand) `,` type($indices) `,` type($updates)";
}
def NN_ScatterNdOp : NN_InferredOp<"scatter_nd", [NN_Vjp]> {
  let summary = "writes slices at index tuples into a copy of operand, in ascending order, as ONNX ScatterND";
  let description = [{`kind` as in nn.scatter_elements. An index out of range is an error at run time.}] #
      NN_Example<"%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>",
                 "nn.scatter_nd none %x, %i, %u : tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>",
                 "tensor<3x4xf32>">.text;
  let arguments = (ins NN_ScatterKindAttr:$kind, NN_Tensor:$operand, NN_IndexTensor:$indices, NN_Tensor:$updates);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $operand `,` $indices `,` $updates attr-dict `:` type($operand) `,` type($indices) `,` type($updates)";
}

#endif // SPRIG_NN_NNSHAPEOPS_TD
