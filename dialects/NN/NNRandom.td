//===- NNRandom.td - Random numbers -------------------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNRANDOM_TD
#define SPRIG_NN_NNRANDOM_TD

include "dialects/NN/NNBase.td"

def NN_PhiloxOp : NN_ElementwiseOp<"philox", [NoGradient]> {
  let summary = "random bits, a function of index, key and counter (Philox4x32-10)";
  let description = [{
    Word `index` mod 4 of the block whose counter has the words index / 4, `stream`, and the low and the high half of
    `counter`; the two halves of `key` are the key (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).
    The same index, key, counter and stream give the same bits whatever the shape, schedule or device. Operands
    broadcast. `index` is below 2^34.
  }] #
      NN_Example<"%i: tensor<2x3xi64>, %k: tensor<i64>, %c: tensor<i64>",
                 "nn.philox %i, %k, %c {stream = 1 : i64} : tensor<2x3xi64>, tensor<i64>, tensor<i64>",
                 "tensor<2x3xui32>">.text;
  let arguments = (ins StaticShapeTensorOf<[I64]>:$index, StaticShapeTensorOf<[I64]>:$key,
                       StaticShapeTensorOf<[I64]>:$counter, DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs StaticShapeTensorOf<[UI32]>:$result);
  let assemblyFormat = "$index `,` $key `,` $counter attr-dict `:` type($index) `,` type($key) `,` type($counter)";
}

def NN_DropoutOp : NN_CompositeOp<"dropout"> {
  let summary = "zeroes elements at random and scales the others (arXiv:1207.0580)";
  let description = [{
    Element i (row-major) is dropped with probability `ratio`, by the bits nn.philox(i, key, counter) of this `stream`,
    and multiplied by 1 / (1 - ratio) otherwise. Its gradient drops the same elements.
  }] #
      NN_Example<"%x: tensor<2x3xf32>, %k: tensor<i64>, %c: tensor<i64>",
                 "nn.dropout %x, %k, %c {ratio = 0.5 : f64, stream = 3 : i64} : tensor<2x3xf32>, tensor<i64>, tensor<i64>",
                 "tensor<2x3xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, StaticShapeTensorOf<[I64]>:$key, StaticShapeTensorOf<[I64]>:$counter,
                       F64Attr:$ratio, DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $key `,` $counter attr-dict `:` type($operand) `,` type($key) `,` type($counter)";
}

#endif // SPRIG_NN_NNRANDOM_TD
