//===- KernelContraction.td - Matrix products and convolutions in the forms that kernels compute ------------------------===//

#ifndef SPRIG_KERNEL_KERNELCONTRACTION_TD
#define SPRIG_KERNEL_KERNELCONTRACTION_TD

include "dialects/Kernel/KernelBase.td"

def Kernel_PackOp : Kernel_InferredOp<"pack"> {
  let summary = "lays the right side of a contraction out in panels";
  let description = [{
    From a matrix [K, N] (or [N, K] with `transposed`) to panels [ceil(N/32), K, 32], padded with zeros: the one packed
    layout of all instruction sets. With `groups` > 1, N is made of that many equal groups, each of which is padded to
    whole panels: [groups * ceil(N/groups/32), K, 32]. A splat stays a splat, padding included (but a float that is not
    finite where rows are filled up).

    `interleave` rows lie side by side, as instructions want them that add up that many products: element (k, n) of a
    panel is at [k / interleave, n, k % interleave] of [..., ceil(K/interleave), 32, interleave]. 4 for bytes, 2 for bf16.
  }] #
      NN_Example<"%w: tensor<16x40xf32>",
                 "kernel.pack %w : tensor<16x40xf32>",
                 "tensor<2x16x32xf32>">.text;
  let arguments = (ins NN_NumberTensor:$operand, UnitAttr:$transposed, DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$interleave);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Kernel_MatmulPackedOp : Kernel_InferredOp<"matmul_packed", [MatrixProduct, FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "matrix product with packed right side";
  let description = [{
    `lhs` [B..., M, K] times panels [ceil(N/32), K, 32] is [B..., M, N], `columns` = N. Where `lhs` is ui8, panels are i8,
    [ceil(N/32), ceil(K/4), 32, 4], and the result is i32, which wraps; where it is bf16, they are bf16,
    [ceil(N/32), ceil(K/2), 32, 2], and the result is f32, or it is bf16 with panels [ceil(N/32), K, 32].
    Where `lhs` is ui8 and there is a `lowest`, panels are ui8, [ceil(N/32), ceil(K/8), 32, 4], and hold in four bits
    what a byte is above `lowest`, as kernel.matmul_narrow has them.
  }] #
      NN_Example<"%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>",
                 "kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>",
                 "tensor<8x40xf32>">.text;
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$panels, I64Attr:$columns, OptionalAttr<I64Attr>:$lowest);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $panels attr-dict `:` type($lhs) `,` type($panels)";
}

def Kernel_F32Tensor : StaticShapeTensorOf<[F32]>;
def Kernel_CodeTensor : StaticShapeTensorOf<[UI8]>;

def Kernel_MatmulNarrowOp : Kernel_InferredOp<"matmul_narrow", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "matrix product with a packed right side of a few bits";
  let description = [{
    `lhs` [B..., M, K] times a matrix of elements (code - zero) * scale is [B..., M, N], `columns` = N: elements are
    rounded to f32 as nn.dequantize gives them, and added up as any product's. Codes have `bits` of 4 or 8 and lie in
    words of 32 bits, each of 32 / bits neighbouring rows of a column: byte j of a word holds row j in its low bits and,
    of four bits, row 4 + j above them: [ceil(N/32), ceil(K * bits / 32), 32, 4]. Each `group` rows of a column share a
    scale and a zero point, [ceil(N/32), ceil(K/group), 32]; without `zeros` the zero point is `zero` everywhere. A
    group that is not the only one is whole words.
  }] #
      NN_Example<"%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>",
                 "kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 32 : i64, zero = 8 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>",
                 "tensor<8x40xf32>">.text;
  let arguments = (ins Kernel_F32Tensor:$lhs, Kernel_CodeTensor:$codes, Kernel_F32Tensor:$scales,
                       Optional<Kernel_CodeTensor>:$zeros, I64Attr:$columns, I64Attr:$bits, I64Attr:$group,
                       DefaultValuedAttr<I64Attr, "0">:$zero);
  let results = (outs Kernel_F32Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $codes `,` $scales (`,` $zeros^)? attr-dict `:`
    type($lhs) `,` type($codes) `,` type($scales) (`,` type($zeros)^)?
  }];
}

def Kernel_SignedByteTensor : StaticShapeTensorOf<[I8]>;

def Kernel_MatmulNarrowDotOp : Kernel_InferredOp<"matmul_narrow_dot", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "matrix product of bytes and codes of four bits, with scales of groups on both sides";
  let description = [{
    `lhs` [B..., M, K], of which each `group` elements of a row share one of `lhs_scales` [B..., M, K/group], times codes
    of four bits as kernel.matmul_narrow has them is [B..., M, N]: of each group the sum of products of lhs and
    code - zero is an integer of 32 bits; rounded to f32 it is multiplied by the product of both scales, rounded to f32,
    and added to the groups before it, from zero, by one multiply-add.
  }] #
      NN_Example<"%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>",
                 "kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64, group = 32 : i64, zero = 8 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>",
                 "tensor<8x40xf32>">.text;
  let arguments = (ins Kernel_SignedByteTensor:$lhs, Kernel_F32Tensor:$lhs_scales, Kernel_CodeTensor:$codes,
                       Kernel_F32Tensor:$scales, Optional<Kernel_CodeTensor>:$zeros, I64Attr:$columns, I64Attr:$group,
                       DefaultValuedAttr<I64Attr, "0">:$zero);
  let results = (outs Kernel_F32Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $lhs_scales `,` $codes `,` $scales (`,` $zeros^)? attr-dict `:`
    type($lhs) `,` type($lhs_scales) `,` type($codes) `,` type($scales) (`,` type($zeros)^)?
  }];
}

def Kernel_ConvPackedOp : Kernel_InferredOp<"conv_packed", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution with packed filter";
  let description = [{
    `input` [N, spatial..., C]; `panels` [groups * ceil(O/groups/32), window positions * C/groups, 32], rows ordered by
    window position (row-major), then channel; the result is [N, spatial..., O], `channels` = O. Where `input` is ui8,
    panels are i8 and the result is i32, which wraps: [groups * ceil(O/groups/32), runs * ceil(run/4), 32, 4], where a run
    is what lies side by side in the input, channels of neighbours in width that the window takes together (one group,
    neighbours that follow each other), or the channels of one position. With channels that 4 does not divide there is
    no padding. The same of bf16, with 2 for 4 and a result of f32.
  }] #
      NN_Example<"%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>",
                 "kernel.conv_packed %x, %w {window = array<i64: 3, 3>, channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>",
                 "tensor<1x8x8x16xf32>">.text;
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$panels, DenseI64ArrayAttr:$window, I64Attr:$channels,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $panels attr-dict `:` type($input) `,` type($panels)";
}

def Kernel_ConvDepthwiseOp : Kernel_InferredOp<"conv_depthwise", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution with one filter for each channel";
  let description = [{
    `input` [N, spatial..., C], `filter` [window..., C]; the result is [N, spatial..., C]. Order and padding are those of
    nn.conv.
  }] #
      NN_Example<"%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16xf32>",
                 "kernel.conv_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x16xf32>, tensor<3x3x16xf32>",
                 "tensor<1x8x8x16xf32>">.text;
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def Kernel_ConvDepthwiseDotOp : Kernel_InferredOp<"conv_depthwise_dot", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution of bytes with one filter for each channel";
  let description = [{
    `input` [N, spatial..., C] of ui8; the result is [N, spatial..., C] of i32, which wraps. Positions in the padding count
    as `fill`. Taps above each other are products that one instruction adds up: with A the product of all sizes of the
    window but the last, W, and A's taps counted row-major, tap (a, w) of channel c is at [a / 4, w, c, a % 4] of
    `filter` [ceil(A/4), W, C rounded up to 16s, 4] of i8, whose other elements are 0.
  }] #
      NN_Example<"%x: tensor<1x8x8x20xui8>, %w: tensor<1x3x32x4xi8>",
                 "kernel.conv_depthwise_dot %x, %w {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, fill = 7 : i64} : tensor<1x8x8x20xui8>, tensor<1x3x32x4xi8>",
                 "tensor<1x8x8x20xi32>">.text;
  let arguments = (ins StaticShapeTensorOf<[UI8]>:$input, StaticShapeTensorOf<[I8]>:$filter, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def Kernel_ChainTensor : StaticShapeTensorOf<[F32, F64]>;

def Kernel_ConvFilterGradPartsOp : Kernel_InferredOp<"conv_filter_grad_parts", [], NN_ContractionCost> {
  let summary = "chains of the gradient of a convolution with respect to its filter";
  let description = [{
    Operands and attributes are those of nn.conv_filter_grad, channels last unless `channels_first`. Element
    [p, o, c, w] of the result [ceil(positions/512), O, C/groups, window...] is the chain of piece p of the positions:
    its sum over the first dimension in ascending order is the gradient, bit for bit. Elements are of types that sums
    are taken in.
  }] #
      NN_Example<"%x: tensor<8x16x16x3xf32>, %g: tensor<8x16x16x16xf32>",
                 "kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<8x16x16x3xf32>, tensor<8x16x16x16xf32>",
                 "tensor<4x16x3x3x3xf32>">.text;
  let arguments = (ins Kernel_ChainTensor:$input, Kernel_ChainTensor:$cotangent, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_first);
  let results = (outs Kernel_ChainTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent)";
}

def Kernel_MatmulPartsOp : Kernel_InferredOp<"matmul_parts", [], NN_ContractionCost> {
  let summary = "chains of a matrix product over the rows of both sides";
  let description = [{
    `lhs` [K, M], `rhs` [K, N]: element [p, m, n] of the result [ceil(K/512), M, N] is the chain of rows 512 p to
    512 p + 511, as far as they are there. Its sum over the first dimension in ascending order is
    nn.matmul with `transpose_lhs`, bit for bit, where K is more than 1024.
  }] #
      NN_Example<"%x: tensor<1100x40xf32>, %g: tensor<1100x24xf32>",
                 "kernel.matmul_parts %x, %g : tensor<1100x40xf32>, tensor<1100x24xf32>", "tensor<3x40x24xf32>">.text;
  let arguments = (ins Kernel_ChainTensor:$lhs, Kernel_ChainTensor:$rhs);
  let results = (outs Kernel_ChainTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Kernel_SumPartsOp : Kernel_InferredOp<"sum_parts", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "the parts of a long sum of products, added up in their order";
  let description = [{
    Each element is the sum over the first dimension, from zero and in ascending order however many parts there are,
    where nn.reduce may take partial sums. Elementwise operations behind it join its kernel, as those behind the product
    would.
  }] # NN_Example<"%x: tensor<72x6x1x5x5xf32>", "kernel.sum_parts %x : tensor<72x6x1x5x5xf32>",
                  "tensor<6x1x5x5xf32>">.text;
  let arguments = (ins Kernel_ChainTensor:$parts);
  let results = (outs Kernel_ChainTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts)";
}

def Kernel_ConvWinogradOp : Kernel_InferredOp<"conv_winograd", [FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "channels-last convolution of stride 1 by Winograd's short convolutions";
  let description = [{
    `input` [N, height, width, C]; the result is [N, height, width, O], `channels` = O, cut into tiles of `tile` outputs.
    A tile reads tile + window - 1 inputs in each dimension, with zeros in the padding, and turns them into as many
    frequencies; for each frequency a matrix product over the channels follows; the products turn back into outputs.
    `panels` [ceil(O/32), frequencies * C, 32] is the filter in frequencies (row-major over the two dimensions), rows
    ordered by frequency, then channel. The pass `winograd` makes it of a constant filter. tile + window - 1 is 1, 4, 6
    or 8 in each dimension; the points are 0, infinity and ±1, or ±5/8 and ±3/2, or ±1/2, ±1 and ±2.

    Differs from nn.conv in rounding (docs/numerics.md), and an infinite or NaN input reaches all outputs of its tile.
  }] #
      NN_Example<"%x: tensor<1x8x8x3xf32>, %w: tensor<1x108x32xf32>",
                 "kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x3xf32>, tensor<1x108x32xf32>",
                 "tensor<1x8x8x16xf32>">.text;
  let arguments = (ins Kernel_F32Tensor:$input, Kernel_F32Tensor:$panels, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$tile,
                       I64Attr:$channels, DenseI64ArrayAttr:$padding);
  let results = (outs Kernel_F32Tensor:$result);
  let assemblyFormat = "$input `,` $panels attr-dict `:` type($input) `,` type($panels)";
}

#endif // SPRIG_KERNEL_KERNELCONTRACTION_TD
