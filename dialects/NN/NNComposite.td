//===- NNComposite.td - Composites: expressions of primitives -------------------------------------------------------------===//

#ifndef SPRIG_NN_NNCOMPOSITE_TD
#define SPRIG_NN_NNCOMPOSITE_TD

include "dialects/NN/NNBase.td"

// An activation: one float operand, the result has its type.
class NN_ActivationOp<string mnemonic, dag attributes = (ins), string example = ""> : NN_CompositeOp<mnemonic> {
  let description = "Of each element; NaN stays NaN." #
                    NN_Example<"%x: tensor<2x3xf32>", "nn." # mnemonic # " %x" # example # " : tensor<2x3xf32>",
                               "tensor<2x3xf32>">.text;
  let arguments = !con((ins NN_FloatTensor:$operand), attributes);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let extraClassDefinition = NN_typeOfOperand;
}
def NN_SiluOp : NN_ActivationOp<"silu"> { let summary = "x * sigmoid(x)"; }
def NN_MishOp : NN_ActivationOp<"mish"> { let summary = "x * tanh(softplus(x))"; }
def NN_SoftplusOp : NN_ActivationOp<"softplus"> { let summary = "log(1 + exp(x)), without overflow"; }
def NN_SoftsignOp : NN_ActivationOp<"softsign"> { let summary = "x / (1 + |x|)"; }
def NN_HardSwishOp : NN_ActivationOp<"hard_swish"> { let summary = "x * max(0, min(1, x / 6 + 1 / 2))"; }
def NN_GeluOp : NN_ActivationOp<"gelu", (ins UnitAttr:$tanh_approximation), " {tanh_approximation}"> {
  let summary = "x * Phi(x), by erf or by the tanh approximation (arXiv:1606.08415)";
}
def NN_EluOp : NN_ActivationOp<"elu", (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha), " {alpha = 1.5 : f64}"> {
  let summary = "x where positive, else alpha * (exp(x) - 1)";
}
def NN_CeluOp : NN_ActivationOp<"celu", (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha), " {alpha = 2.0 : f64}"> {
  let summary = "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))";
}
def NN_SeluOp : NN_ActivationOp<"selu", (ins F64Attr:$alpha, F64Attr:$gamma), " {alpha = 1.67326 : f64, gamma = 1.0507 : f64}"> {
  let summary = "gamma * x where positive, else gamma * alpha * (exp(x) - 1) (arXiv:1706.02515)";
  let extraClassDefinition = "";
}
def NN_LeakyReluOp : NN_ActivationOp<"leaky_relu", (ins DefaultValuedAttr<F64Attr, "0.01">:$alpha), " {alpha = 0.1 : f64}"> {
  let summary = "x where not negative, else alpha * x";
}
def NN_HardSigmoidOp : NN_ActivationOp<"hard_sigmoid", (ins F64Attr:$alpha, F64Attr:$beta), " {alpha = 0.2 : f64, beta = 0.5 : f64}"> {
  let summary = "max(0, min(1, alpha * x + beta))";
  let extraClassDefinition = "";
}

class NN_SoftmaxLikeOp<string mnemonic, string more = ""> : NN_CompositeOp<mnemonic, [NN_Vjp]> {
  let description = "The maximum is taken off first, so nothing overflows; half types are computed in f32 and rounded once. A "
                    "row of -inf alone gives NaN, as ONNX's Softmax." # more #
                    NN_Example<"%x: tensor<2x10xf32>", "nn." # mnemonic # " %x axis = 1 : tensor<2x10xf32>",
                               "tensor<2x10xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($operand)";
}
def NN_SoftmaxOp : NN_SoftmaxLikeOp<"softmax", " With `masked` it gives zeros: the weights of a query that sees no key."> {
  let summary = "exp(x - max) / sum of it along an axis";
  let arguments = (ins NN_FloatTensor:$operand, I64Attr:$axis, UnitAttr:$masked);
}
def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax"> { let summary = "x - max - log(sum of exp(x - max)) along an axis"; }

def NN_ReduceMeanOp : NN_CompositeOp<"reduce_mean"> {
  let summary = "arithmetic mean over axes";
  let description = [{Sum over the axes divided by the number of elements; integers truncate, half types are averaged in f32.}] #
      NN_Example<"%x: tensor<2x3x4xf32>",
                 "nn.reduce_mean %x axes = [1, 2] : tensor<2x3x4xf32>",
                 "tensor<2xf32>">.text;
  let arguments = (ins NN_NumberTensor:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keep_dims);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` type($operand)";
}
def NN_AvgPoolOp : NN_CompositeOp<"avg_pool"> {
  let summary = "mean over sliding windows";
  let description = [{
    As nn.pool with kind sum, divided by the window's number of elements that lie in the operand or in the part
    `counted_padding` ([low..., high...]) of the padding.
  }] #
      NN_Example<"%x: tensor<1x3x8x8xf32>",
                 "nn.avg_pool %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, counted_padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>",
                 "tensor<1x3x4x4xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$counted_padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}
def NN_LinearOp : NN_CompositeOp<"linear", [], NN_ContractionCost> {
  let summary = "x times the transpose of weight, plus bias";
  let description = [{`operand` [..., K], `weight` [N, K] (PyTorch's layout), `bias` [N]; the result is [..., N].}] #
      NN_Example<"%x: tensor<4x16xf32>, %w: tensor<10x16xf32>, %b: tensor<10xf32>",
                 "nn.linear %x, %w, %b : tensor<4x16xf32>, tensor<10x16xf32>, tensor<10xf32>",
                 "tensor<4x10xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$weight, Optional<NN_FloatTensor>:$bias);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $weight (`,` $bias^)? attr-dict `:` type($operand) `,` type($weight) (`,` type($bias)^)?";
}
def NN_BatchNormOp : NN_CompositeOp<"batch_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + shift per channel, with given statistics";
  let description = [{`operand` [N, C, ...]; the others [C] (arXiv:1502.03167, inference).}] #
      NN_Example<"%x: tensor<2x3x4x4xf32>, %c: tensor<3xf32>",
                 "nn.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>",
                 "tensor<2x3x4x4xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$shift, NN_FloatTensor:$mean,
                       NN_FloatTensor:$variance, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $shift `,` $mean `,` $variance attr-dict `:` type($operand) `,` type($scale) `,` type($shift) `,` type($mean) `,` type($variance)";
}
def NN_BatchNormTrainOp : NN_CompositeOp<"batch_norm_train", [NN_Vjp]> {
  let summary = "batch normalisation with the statistics of the batch (arXiv:1502.03167, training)";
  let description = [{
    (x - mean) / sqrt(variance + epsilon) * scale + shift per channel; `operand` [N, C, ...], the others [C]. Results: the
    normalised operand, the mean and the biased variance [C] over all dimensions but the channel; with `unbiased` the
    variance that is given, not the one that normalises, is the unbiased one. Half types are normalised in f32.

    `groups` names axes of a mesh. Where ranks share the samples along them, each of their shards is normalised by its
    own statistics; the mean and the variance are then the means of the shards' ones, weighted by their samples. On one
    rank it changes nothing.

    Example:

    ```mlir
    func.func @example(%x: tensor<2x3x4x4xf32>, %c: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
      %y, %mean, %variance = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
      return %y : tensor<2x3x4x4xf32>
    }
    ```
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$shift, F64Attr:$epsilon,
                       UnitAttr:$unbiased, OptionalAttr<StrArrayAttr>:$groups);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean, NN_FloatTensor:$variance);
  let assemblyFormat = "$operand `,` $scale `,` $shift attr-dict `:` type($operand) `,` type($scale) `,` type($shift)";
}
def NN_BatchNormTrainGradOp : NN_CompositeOp<"batch_norm_train_grad", [NN_Vjp]> {
  let summary = "gradients of nn.batch_norm_train by its operand, scale and shift";
  let description = [{
    Takes the operand and the scale, and the cotangent of the normalised operand. It computes the statistics itself, so
    with `groups` each shard of the samples has its own, and the gradients by scale and shift are the sums of the shards'
    ones. Half types are computed in f32.

    Example:

    ```mlir
    func.func @example(%x: tensor<2x3x4x4xf32>, %c: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
      %x_grad, %scale_grad, %shift_grad = nn.batch_norm_train_grad %x, %c, %x {epsilon = 1.0e-5 : f64, groups = ["data"]} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<2x3x4x4xf32>
      return %x_grad : tensor<2x3x4x4xf32>
    }
    ```
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$cotangent, F64Attr:$epsilon,
                       OptionalAttr<StrArrayAttr>:$groups);
  let results = (outs NN_FloatTensor:$operand_grad, NN_FloatTensor:$scale_grad, NN_FloatTensor:$shift_grad);
  let assemblyFormat = "$operand `,` $scale `,` $cotangent attr-dict `:` type($operand) `,` type($scale) `,` type($cotangent)";
}
def NN_LayerNormOp : NN_CompositeOp<"layer_norm", [NN_Vjp]> {
  let summary = "normalises over the dimensions from axis on (arXiv:1607.06450)";
  let description = [{
    (x - mean) / sqrt(biased variance + epsilon), then * scale and + shift, which broadcast to the operand.
    Half types are normalised in f32.
  }] #
      NN_Example<"%x: tensor<2x8xf32>, %c: tensor<8xf32>",
                 "nn.layer_norm %x, %c, %c axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>",
                 "tensor<2x8xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, Optional<NN_FloatTensor>:$shift, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale (`,` $shift^)? `axis` `=` $axis attr-dict `:` type($operand) `,` type($scale) (`,` type($shift)^)?";
}
def NN_RmsNormOp : NN_CompositeOp<"rms_norm"> {
  let summary = "x / sqrt(mean of squares + epsilon) * scale over the dimensions from axis on (arXiv:1910.07467)";
  let description = [{`scale` broadcasts to the operand. Half types are normalised in f32.}] #
      NN_Example<"%x: tensor<2x8xf32>, %c: tensor<8xf32>",
                 "nn.rms_norm %x, %c axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>",
                 "tensor<2x8xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale `axis` `=` $axis attr-dict `:` type($operand) `,` type($scale)";
}
def NN_GroupNormOp : NN_CompositeOp<"group_norm"> {
  let summary = "normalises each sample over groups of channels (arXiv:1803.08494); groups = C is instance norm";
  let description = [{`operand` [N, C, ...], `scale` and `shift` [C].}] #
      NN_Example<"%x: tensor<2x6x4x4xf32>, %c: tensor<6xf32>",
                 "nn.group_norm %x, %c, %c {groups = 3 : i64, epsilon = 1.0e-5 : f64} : tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>",
                 "tensor<2x6x4x4xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$shift, I64Attr:$groups,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale `,` $shift attr-dict `:` type($operand) `,` type($scale) `,` type($shift)";
}

#endif // SPRIG_NN_NNCOMPOSITE_TD
