//===- NNLoss.td - Losses ---------------------------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNLOSS_TD
#define SPRIG_NN_NNLOSS_TD

include "dialects/NN/NNBase.td"

def NN_LossReduction : I32EnumAttr<"LossReduction", "how the losses of elements become one", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"sum", 2>]> {
  let cppNamespace = "::sprig::ir";
  let genSpecializedAttr = 0;
}
def NN_LossReductionAttr : EnumAttr<NN_Dialect, NN_LossReduction, "loss_reduction">;

defvar lossText = [{ Reduction `none` leaves the losses as they are, `sum` adds them, `mean` divides the sum by their
    number. Half types are computed in f32; a mean or sum has the operand's element type.}];

def NN_ClassIndexOp : NN_ElementwiseOp<"class_index", [NoGradient]> {
  let summary = "the same class indices, each checked to be one of the classes";
  let description = [{An index that is negative, or not below `classes`, is an error at run time.}] #
      NN_Example<"%t: tensor<8xi64>", "nn.class_index %t {classes = 10 : i64} : tensor<8xi64>", "tensor<8xi64>">.text;
  let arguments = (ins NN_IndexTensor:$operand, I64Attr:$classes);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

// Losses against classes: the classes are the last dimension of the operand, targets have its shape without it.
class NN_ClassLossOp<string mnemonic, dag attributes = (ins)>
    : NN_CompositeOp<mnemonic, [NN_Vjp]> {
  let arguments = !con((ins NN_LossReductionAttr:$reduction, NN_FloatTensor:$operand, NN_IndexTensor:$targets,
                            Optional<NN_FloatTensor>:$weights, OptionalAttr<I64Attr>:$ignore_index), attributes);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $reduction $operand `,` $targets (`weights` $weights^)? attr-dict `:` type($operand) `,` type($targets) (`,` type($weights)^)?
  }];
}

def NN_CrossEntropyOp : NN_ClassLossOp<"cross_entropy", (ins DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing)> {
  let summary = "softmax cross-entropy of logits with classes";
  let description = [{
    -weight[t] * log softmax(x)[t] of each row, from the stable form x - max - log(sum of exp(x - max)). With
    `label_smoothing` s the target is 1 - s + s / C for class t and s / C for the others (arXiv:1512.00567), each term
    times its class's weight. Rows whose target is `ignore_index` count nothing. `mean` divides by the sum of the
    targets' weights (their number without weights), as PyTorch does. A class out of range is an error at run time.
  }] # lossText #
      NN_Example<"%x: tensor<8x10xf32>, %t: tensor<8xi64>",
                 "nn.cross_entropy mean %x, %t {label_smoothing = 0.1 : f64} : tensor<8x10xf32>, tensor<8xi64>",
                 "tensor<f32>">.text;
}
def NN_NllLossOp : NN_ClassLossOp<"nll_loss"> {
  let summary = "negative log-likelihood of classes from log-probabilities";
  let description = [{
    -weight[t] * x[t] of each row; otherwise as nn.cross_entropy.
  }] # lossText #
      NN_Example<"%x: tensor<8x10xf32>, %t: tensor<8xi64>, %w: tensor<10xf32>",
                 "nn.nll_loss sum %x, %t weights %w {ignore_index = -100 : i64} : tensor<8x10xf32>, tensor<8xi64>, tensor<10xf32>",
                 "tensor<f32>">.text;
}

// Losses of elements against targets of the same shape.
class NN_ElementLossOp<string mnemonic, string formula, dag attributes = (ins), string example = "",
                       list<Trait> traits = []> : NN_CompositeOp<mnemonic, traits> {
  let description = formula # lossText #
                    NN_Example<"%x: tensor<8x4xf32>, %t: tensor<8x4xf32>",
                               "nn." # mnemonic # " mean %x, %t" # example # " : tensor<8x4xf32>, tensor<8x4xf32>",
                               "tensor<f32>">.text;
  let arguments = !con((ins NN_LossReductionAttr:$reduction, NN_FloatTensor:$operand, NN_FloatTensor:$targets), attributes);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$reduction $operand `,` $targets attr-dict `:` type($operand) `,` type($targets)";
}
def NN_MseLossOp : NN_ElementLossOp<"mse_loss", "(x - t)^2."> { let summary = "squared error"; }
def NN_L1LossOp : NN_ElementLossOp<"l1_loss", "|x - t|; the gradient at zero is zero."> { let summary = "absolute error"; }
def NN_HuberLossOp : NN_ElementLossOp<"huber_loss", "d^2 / 2 where d = |x - t| is at most `delta`, else delta * (d - delta / 2).",
                                      (ins DefaultValuedAttr<F64Attr, "1.0">:$delta), " {delta = 0.5 : f64}"> {
  let summary = "squared error near zero, absolute error beyond";
}
def NN_BceLossOp : NN_ElementLossOp<"bce_loss", "-(t log x + (1 - t) log(1 - x)), each logarithm at least -100; a value outside [0, 1] is an error at run time; the gradient is (x - t) / max(x (1 - x), 1e-12).",
                                    (ins), "", [NN_Vjp]> {
  let summary = "binary cross-entropy of probabilities";
}
def NN_BceWithLogitsLossOp : NN_ElementLossOp<"bce_with_logits_loss", "max(x, 0) - x t + log(1 + exp(-|x|)): binary cross-entropy of sigmoid(x) without overflow.",
                                              (ins OptionalAttr<F64Attr>:$positive_weight)> {
  let summary = "binary cross-entropy of logits; positive_weight multiplies the loss of positive targets";
}
def NN_KlDivLossOp : NN_ElementLossOp<"kl_div_loss", "t (log t - x), zero where t is zero; x are log-probabilities. With `log_target` t is given as its logarithm.",
                                      (ins UnitAttr:$log_target)> {
  let summary = "Kullback-Leibler divergence from log-probabilities";
}

// A mean stays one operation as long as ranks may divide it: a sum and a division do not say that they are a mean, and a
// constant of the operand's type is not the factor that was given, but that factor rounded.
def NN_LossMeanOp : NN_CompositeOp<"loss_mean", [NN_Vjp]> {
  let summary = "the mean of losses over the positions of the first dimensions";
  let description = [{
    The sum of all elements, divided by the number of positions of the first `dims` dimensions.
  }] # NN_Example<"%x: tensor<8x4xf32>", "nn.loss_mean %x {dims = 1 : i64} : tensor<8x4xf32>", "tensor<f32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, I64Attr:$dims);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}
def NN_LossMeanGradOp : NN_CompositeOp<"loss_mean_grad", [NN_Vjp]> {
  let summary = "the gradient of a mean of losses by each of them";
  let description = [{
    `cotangent` divided by the number of positions of the first `dims` dimensions of `like`; where there are none, the
    cotangent itself. Of `like` only the shape counts.
  }] # NN_Example<"%g: tensor<f32>, %x: tensor<8x4xf32>",
                  "nn.loss_mean_grad %g like %x {dims = 2 : i64} : tensor<f32>, tensor<8x4xf32>", "tensor<f32>">.text;
  let arguments = (ins NN_FloatTensor:$cotangent, NN_Tensor:$like, I64Attr:$dims);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$cotangent `like` $like attr-dict `:` type($cotangent) `,` type($like)";
}

def NN_LossScaleOp : NN_CompositeOp<"loss_scale", [NN_Vjp, AllTypesMatch<["operand", "rounded"]>]> {
  let summary = "a loss times a number that is known exactly";
  let description = [{
    `operand` times `rounded`, which is `factor` in the element type: of a part of a mean, the part and the factor become
    one number, rounded once.
  }] # NN_Example<"%x: tensor<f32>, %c: tensor<f32>", "nn.loss_scale %x, %c {factor = 0.1 : f64} : tensor<f32>",
                  "tensor<f32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$rounded, F64Attr:$factor);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $rounded attr-dict `:` type($operand)";
}

#endif // SPRIG_NN_NNLOSS_TD
