//===- NNWinograd.td - Convolution by Winograd's short convolutions ------------------------------------------------------===//
//
// Apart from NNOps.td: front-ends never make this operation, so what includes NN.h does not depend on it.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNWINOGRAD_TD
#define SPRIG_NN_NNWINOGRAD_TD

include "dialects/NN/NNBase.td"

def NN_F32Tensor : StaticShapeTensorOf<[F32]>;

def NN_ConvWinogradOp : NN_InferredOp<"conv_winograd", [MadeAfterGradients, FusesAs<"contraction">],
                                      DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>> {
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
                 "nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x3xf32>, tensor<1x108x32xf32>",
                 "tensor<1x8x8x16xf32>">.text;
  let arguments = (ins NN_F32Tensor:$input, NN_F32Tensor:$panels, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$tile,
                       I64Attr:$channels, DenseI64ArrayAttr:$padding);
  let results = (outs NN_F32Tensor:$result);
  let assemblyFormat = "$input `,` $panels attr-dict `:` type($input) `,` type($panels)";
}

#endif // SPRIG_NN_NNWINOGRAD_TD
