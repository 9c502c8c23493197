//===- NNContraction.td - Matrix products and convolutions --------------------------------------------------------------===//

#ifndef SPRIG_NN_NNCONTRACTION_TD
#define SPRIG_NN_NNCONTRACTION_TD

include "dialects/NN/NNBase.td"

def NN_ContractionCost : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;

def NN_MatmulOp : NN_InferredOp<"matmul", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "batched matrix product";
  let description = [{
    `lhs` is [B..., M, K] and `rhs` [B..., K, N] (or [B..., K, M] and [B..., N, K] with `transpose_lhs`,
    `transpose_rhs`); leading dimensions broadcast; the result is [B..., M, N]. Each element is one chain of fused
    multiply-adds in ascending k from zero. Integer products accumulate in the element type.
  }];
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def NN_PackOp : NN_InferredOp<"pack"> {
  let summary = "lays the right side of a contraction out in panels";
  let description = [{
    From a matrix [K, N] (or [N, K] with `transposed`) to panels [ceil(N/32), K, 32], padded with zeros: the one packed
    layout of all instruction sets. With `groups` > 1, N is made of that many equal groups, each of which is padded to
    whole panels: [groups * ceil(N/groups/32), K, 32]. A splat stays a splat, padding included.
  }];
  let arguments = (ins NN_NumberTensor:$operand, UnitAttr:$transposed, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def NN_MatmulPackedOp : NN_InferredOp<"matmul_packed", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "matrix product with packed right side";
  let description = [{`lhs` [B..., M, K] times panels [ceil(N/32), K, 32] is [B..., M, N], `columns` = N.}];
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$panels, I64Attr:$columns);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $panels attr-dict `:` type($lhs) `,` type($panels)";
}

def NN_ConvOp : NN_InferredOp<"conv", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "convolution (cross-correlation) over 1 to 3 spatial dimensions";
  let description = [{
    `input` [N, C, spatial...] (channels last with `channels_last`: [N, spatial..., C]), `filter` [O, C/groups,
    window...] always in the model's layout. `padding` has the low and then the high padding of each spatial dimension:
    [low..., high...]. Each element is one chain of fused multiply-adds from zero, over window positions in row-major
    order and then input channels; taps in the padding are skipped.
  }];
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def NN_ConvPackedOp : NN_InferredOp<"conv_packed", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution with packed filter";
  let description = [{
    `input` [N, spatial..., C]; `panels` [groups * ceil(O/groups/32), window positions * C/groups, 32], rows ordered by
    window position (row-major), then channel; the result is [N, spatial..., O], `channels` = O.
  }];
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$panels, DenseI64ArrayAttr:$window, I64Attr:$channels,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $panels attr-dict `:` type($input) `,` type($panels)";
}

def NN_ConvDepthwiseOp : NN_InferredOp<"conv_depthwise", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution with one filter for each channel";
  let description = [{
    `input` [N, spatial..., C], `filter` [window..., C]; the result is [N, spatial..., C]. Order and padding are those of
    nn.conv.
  }];
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def NN_ConvTransposeOp : NN_InferredOp<"conv_transpose", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "transposed convolution";
  let description = [{
    `input` [N, C, spatial...], `filter` [C, O/groups, window...], result [N, O, spatial...] with
    out = (in - 1) * stride + (window - 1) * dilation + 1 + output_padding - low - high. `padding` is [low..., high...].
  }];
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$output_padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

#endif // SPRIG_NN_NNCONTRACTION_TD
