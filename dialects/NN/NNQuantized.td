//===- NNQuantized.td - Quantised tensors and products of them ----------------------------------------------------------===//

#ifndef SPRIG_NN_NNQUANTIZED_TD
#define SPRIG_NN_NNQUANTIZED_TD

include "dialects/NN/NNBase.td"

// An integer q with a scale s and a zero point z stands for (q - z) * s (ONNX, QuantizeLinear and DequantizeLinear;
// arXiv:1712.05877).

def NN_QuantizedTensor : StaticShapeTensorOf<[I16, I8, UI16, UI8]>;
def NN_ByteTensor : StaticShapeTensorOf<[I8, UI8]>;

def NN_QuantizeOp : NN_ElementwiseOp<"quantize", [NoGradient]> {
  let summary = "the nearest integers for a scale and a zero point";
  let description = [{
    round(x / scale) + zero, ties to even, saturated to the element type of `zero`, which is that of the result. `scale`
    is positive and has the operand's element type; with `zero` it broadcasts to the operand's shape: one number for the
    whole tensor, for a channel, or for a group. The quotient is rounded to f32 (f64 of f64) before it is rounded to an
    integer. NaN gives the lowest number.
  }] #
      NN_Example<"%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<ui8>",
                 "nn.quantize %x, %s, %z : tensor<4x8xf32>, tensor<f32>, tensor<ui8>",
                 "tensor<4x8xui8>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_QuantizedTensor:$zero);
  let results = (outs NN_QuantizedTensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $zero attr-dict `:` type($operand) `,` type($scale) `,` type($zero)";
}

def NN_DequantizeOp : NN_ElementwiseOp<"dequantize", [NN_Vjp]> {
  let summary = "the numbers that integers stand for";
  let description = [{
    (x - zero) * scale, of the element type of `scale`. The difference is taken in 32 bits, as an integer, and rounded to
    f32 (f64 where `scale` is f64), as is the product. `scale` and `zero` broadcast to the operand's shape.
  }] #
      NN_Example<"%x: tensor<4x8xi8>, %s: tensor<4x1xf32>, %z: tensor<4x1xi8>",
                 "nn.dequantize %x, %s, %z : tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi8>",
                 "tensor<4x8xf32>">.text;
  let arguments = (ins StaticShapeTensorOf<[I32, I16, I8, UI16, UI8]>:$operand, NN_FloatTensor:$scale,
                       StaticShapeTensorOf<[I32, I16, I8, UI16, UI8]>:$zero);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $zero attr-dict `:` type($operand) `,` type($scale) `,` type($zero)";
}

def NN_FakeQuantizeOp : NN_CompositeOp<"fake_quantize", [NN_Vjp]> {
  let summary = "what is left of numbers once they were quantised; for training";
  let description = [{
    nn.dequantize of nn.quantize, both by `scale` and `zero`. Integers are clipped to `low` and `high` where these are
    there: fewer than the element type of `zero` has, as of four bits. Its gradient is the straight-through one: that of
    the identity where the integer was not clipped, else 0 (arXiv:1712.05877). `scale` has that of a learned step size:
    of each element the integer less the quotient where it was not clipped, else the integer, less the zero point
    (arXiv:1902.08153, without its factor for gradients).
  }] #
      NN_Example<"%x: tensor<4x8xf32>, %s: tensor<4x1xf32>, %z: tensor<i8>",
                 "nn.fake_quantize %x, %s, %z {low = -7 : i64, high = 7 : i64} : tensor<4x8xf32>, tensor<4x1xf32>, tensor<i8>",
                 "tensor<4x8xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_QuantizedTensor:$zero,
                       OptionalAttr<I64Attr>:$low, OptionalAttr<I64Attr>:$high);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $zero attr-dict `:` type($operand) `,` type($scale) `,` type($zero)";
}

def NN_MatmulIntegerOp : NN_CompositeOp<"matmul_integer", [], NN_ContractionCost> {
  let summary = "matrix product of bytes with zero points";
  let description = [{
    (lhs - lhs_zero) times (rhs - rhs_zero) in 32-bit integers, which wrap (ONNX, MatMulInteger). `lhs` is [B..., M, K] and
    `rhs` [B..., K, N], or [B..., N, K] with `transpose_rhs`. `lhs_zero` has the element type of `lhs` and is one number
    or one for each row ([M, 1]), `rhs_zero` that of `rhs` and one number or one for each column ([1, N]).
  }] #
      NN_Example<"%x: tensor<2x16xui8>, %w: tensor<16x4xi8>, %a: tensor<ui8>, %b: tensor<i8>",
                 "nn.matmul_integer %x, %w, %a, %b : tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>",
                 "tensor<2x4xi32>">.text;
  let arguments = (ins NN_ByteTensor:$lhs, NN_ByteTensor:$rhs, NN_ByteTensor:$lhs_zero, NN_ByteTensor:$rhs_zero,
                       UnitAttr:$transpose_rhs);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $lhs_zero `,` $rhs_zero attr-dict `:`
    type($lhs) `,` type($rhs) `,` type($lhs_zero) `,` type($rhs_zero)
  }];
}

def NN_ConvIntegerOp : NN_CompositeOp<"conv_integer", [], NN_ContractionCost> {
  let summary = "convolution of bytes with zero points";
  let description = [{
    nn.conv of (input - input_zero) with (filter - filter_zero) in 32-bit integers, which wrap; positions in the padding
    count as input_zero (ONNX, ConvInteger). Sizes and attributes are those of nn.conv. `input_zero` is one number of the
    input's element type, `filter_zero` one of the filter's, or one for each filter ([O, 1, 1...]).
  }] #
      NN_Example<"%x: tensor<1x3x8x8xui8>, %w: tensor<16x3x3x3xi8>, %a: tensor<ui8>, %b: tensor<i8>",
                 "nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8xui8>, tensor<16x3x3x3xi8>, tensor<ui8>, tensor<i8>",
                 "tensor<1x16x8x8xi32>">.text;
  let arguments = (ins NN_ByteTensor:$input, NN_ByteTensor:$filter, NN_ByteTensor:$input_zero, NN_ByteTensor:$filter_zero,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $input `,` $filter `,` $input_zero `,` $filter_zero attr-dict `:`
    type($input) `,` type($filter) `,` type($input_zero) `,` type($filter_zero)
  }];
}

#endif // SPRIG_NN_NNQUANTIZED_TD
