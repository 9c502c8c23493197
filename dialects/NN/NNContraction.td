//===- NNContraction.td - Matrix products and convolutions --------------------------------------------------------------===//

#ifndef SPRIG_NN_NNCONTRACTION_TD
#define SPRIG_NN_NNCONTRACTION_TD

include "dialects/NN/NNBase.td"

def NN_MatmulOp : NN_InferredOp<"matmul", [NN_Vjp, MatrixProduct, FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "batched matrix product";
  let description = [{
    `lhs` is [B..., M, K] and `rhs` [B..., K, N] (or [B..., K, M] and [B..., N, K] with `transpose_lhs`,
    `transpose_rhs`); leading dimensions broadcast; the result is [B..., M, N]. Each element is one chain of fused
    multiply-adds in ascending k from zero, or where K is above 1024 the sum, in order, of such chains of 512. Integer
    products accumulate in the element type and wrap.

    With an `accumulator` sums, and the result, have a type of their own: i32 of operands of i8 and ui8, of which each
    may be either; f32 of two operands of bf16. The latter are added as x86's `vdpbf16ps` does where a target has
    kernels for them (docs/numerics.md): of each two k the odd one first, denormal factors and sums as zeros.
  }] #
      NN_Example<"%x: tensor<2x8x16xf32>, %y: tensor<32x16xf32>",
                 "nn.matmul %x, %y {transpose_rhs} : tensor<2x8x16xf32>, tensor<32x16xf32>",
                 "tensor<2x8x32xf32>">.text;
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs NN_NumberTensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "bool":$transpose_lhs, "bool":$transpose_rhs), [{
      build($_builder, $_state, lhs, rhs, transpose_lhs, transpose_rhs, ::mlir::TypeAttr());
    }]>,
  ];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def NN_ConvOp : NN_InferredOp<"conv", [NN_Vjp, FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "convolution (cross-correlation) over 1 to 3 spatial dimensions";
  let description = [{
    `input` [N, C, spatial...] (channels last with `channels_last`: [N, spatial..., C]), `filter` [O, C/groups,
    window...] always in the model's layout. `padding` has the low and then the high padding of each spatial dimension:
    [low..., high...]. Each element is one chain of fused multiply-adds from zero, over window positions in row-major
    order and then input channels; taps in the padding are skipped. `accumulator` is as with nn.matmul.
  }] #
      NN_Example<"%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>",
                 "nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>",
                 "tensor<1x16x8x8xf32>">.text;
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def NN_ConvTransposeOp : NN_InferredOp<"conv_transpose", [NN_Vjp, FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "transposed convolution";
  let description = [{
    `input` [N, C, spatial...], `filter` [C, O/groups, window...], result [N, O, spatial...] with
    out = (in - 1) * stride + (window - 1) * dilation + 1 + output_padding - low - high. `padding` is [low..., high...].
  }] #
      NN_Example<"%x: tensor<1x4x5x5xf32>, %w: tensor<4x6x3x3xf32>",
                 "nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : tensor<1x4x5x5xf32>, tensor<4x6x3x3xf32>",
                 "tensor<1x6x10x10xf32>">.text;
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$output_padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $filter attr-dict `:` type($input) `,` type($filter)";
}

def NN_ConvFilterGradOp : NN_InferredOp<"conv_filter_grad", [NN_Vjp, FusesAs<"contraction">], NN_ContractionCost> {
  let summary = "gradient of nn.conv with respect to its filter";
  let description = [{
    `input` and `cotangent` (of the shape of the convolution's result) as nn.conv has them; the result is the filter's
    gradient [O, C/groups, window...] where `window` gives the window's sizes. Element [o, c, w] is the sum over samples
    and positions p of cotangent[n, o, p] * input[n, c, p * stride + w * dilation - low]; positions in the padding count
    as zero. It is a chain of fused multiply-adds over samples and then positions in row-major order, cut into pieces as
    the k of nn.matmul is.
  }] #
      NN_Example<"%x: tensor<2x3x8x8xf32>, %g: tensor<2x16x8x8xf32>",
                 "nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x3x8x8xf32>, tensor<2x16x8x8xf32>",
                 "tensor<16x3x3x3xf32>">.text;
  let arguments = (ins NN_NumberTensor:$input, NN_NumberTensor:$cotangent, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$channels_last);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent)";
}

#endif // SPRIG_NN_NNCONTRACTION_TD
