//===- NNUnary.td - Elementwise primitives of one operand ----------------------------------------------------------===//

#ifndef SPRIG_NN_NNUNARY_TD
#define SPRIG_NN_NNUNARY_TD

include "dialects/NN/NNBase.td"

// One operand, the result has its type.
class NN_UnaryOp<string mnemonic, TypeConstraint operand, string example = "tensor<2x3xf32>", Trait gradient = NN_Vjp>
    : NN_ElementwiseOp<mnemonic, [gradient]> {
  let description = "Of each element. Half types are computed in f32 and rounded once." #
                    NN_Example<"%x: " # example, "nn." # mnemonic # " %x : " # example, example>.text;
  let arguments = (ins operand:$operand);
  let results = (outs operand:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def NN_AbsOp : NN_UnaryOp<"abs", NN_NumberTensor> { let summary = "absolute value"; }
def NN_NegOp : NN_UnaryOp<"neg", NN_NumberTensor> { let summary = "negation; integers wrap"; }
def NN_SignOp : NN_UnaryOp<"sign", NN_NumberTensor, "tensor<2x3xf32>", NoGradient> { let summary = "-1, 0 or 1 by the sign; NaN stays NaN"; }
def NN_ExpOp : NN_UnaryOp<"exp", NN_FloatTensor> { let summary = "exponential"; }
def NN_LogOp : NN_UnaryOp<"log", NN_FloatTensor> { let summary = "natural logarithm"; }
def NN_Log1pOp : NN_UnaryOp<"log1p", NN_FloatTensor> { let summary = "logarithm of 1 + x"; }
def NN_Expm1Op : NN_UnaryOp<"expm1", NN_FloatTensor> { let summary = "exp(x) - 1"; }
def NN_SqrtOp : NN_UnaryOp<"sqrt", NN_FloatTensor> { let summary = "square root"; }
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", NN_FloatTensor> { let summary = "1 / sqrt(x), two correctly rounded steps"; }
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", NN_FloatTensor> { let summary = "1 / x"; }
def NN_FloorOp : NN_UnaryOp<"floor", NN_FloatTensor, "tensor<2x3xf32>", NoGradient> { let summary = "largest integer not above"; }
def NN_CeilOp : NN_UnaryOp<"ceil", NN_FloatTensor, "tensor<2x3xf32>", NoGradient> { let summary = "smallest integer not below"; }
def NN_RoundOp : NN_UnaryOp<"round", NN_FloatTensor, "tensor<2x3xf32>", NoGradient> { let summary = "nearest integer, halves to even"; }
def NN_SinOp : NN_UnaryOp<"sin", NN_FloatTensor> { let summary = "sine of radians"; }
def NN_CosOp : NN_UnaryOp<"cos", NN_FloatTensor> { let summary = "cosine of radians"; }
def NN_TanOp : NN_UnaryOp<"tan", NN_FloatTensor> { let summary = "tangent of radians"; }
def NN_AsinOp : NN_UnaryOp<"asin", NN_FloatTensor> { let summary = "arc sine in radians"; }
def NN_AcosOp : NN_UnaryOp<"acos", NN_FloatTensor> { let summary = "arc cosine in radians"; }
def NN_AtanOp : NN_UnaryOp<"atan", NN_FloatTensor> { let summary = "arc tangent in radians"; }
def NN_SinhOp : NN_UnaryOp<"sinh", NN_FloatTensor> { let summary = "hyperbolic sine"; }
def NN_CoshOp : NN_UnaryOp<"cosh", NN_FloatTensor> { let summary = "hyperbolic cosine"; }
def NN_TanhOp : NN_UnaryOp<"tanh", NN_FloatTensor> { let summary = "hyperbolic tangent"; }
def NN_AsinhOp : NN_UnaryOp<"asinh", NN_FloatTensor> { let summary = "inverse hyperbolic sine"; }
def NN_AcoshOp : NN_UnaryOp<"acosh", NN_FloatTensor> { let summary = "inverse hyperbolic cosine"; }
def NN_AtanhOp : NN_UnaryOp<"atanh", NN_FloatTensor> { let summary = "inverse hyperbolic tangent"; }
def NN_ErfOp : NN_UnaryOp<"erf", NN_FloatTensor> { let summary = "error function"; }
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", NN_FloatTensor> { let summary = "1 / (1 + exp(-x))"; }
def NN_ReluOp : NN_UnaryOp<"relu", NN_NumberTensor> { let summary = "max(x, 0); NaN stays NaN"; }
def NN_NotOp : NN_UnaryOp<"not", NN_LogicTensor, "tensor<4xi1>", NoGradient> { let summary = "logical not of i1, bitwise not of integers"; }

def NN_InRangeOp : NN_ElementwiseOp<"in_range", [NN_Vjp]> {
  let summary = "the same values, each checked to lie in a range";
  let description = [{
    A value below `low`, above `high`, or NaN is an error at run time: probabilities, weights, variances that a program
    was given. The gradient passes unchanged.
  }] #
      NN_Example<"%p: tensor<8xf32>", "nn.in_range %p {low = 0.0, high = 1.0} : tensor<8xf32>", "tensor<8xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand, F64Attr:$low, F64Attr:$high);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

class NN_PredicateOp<string mnemonic> : NN_ElementwiseOp<mnemonic, [NoGradient]> {
  let description = "Of each element." #
                    NN_Example<"%x: tensor<4xf32>", "nn." # mnemonic # " %x : tensor<4xf32>", "tensor<4xi1>">.text;
  let arguments = (ins NN_FloatTensor:$operand);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}
def NN_IsNanOp : NN_PredicateOp<"is_nan"> { let summary = "whether x is not a number"; }
def NN_IsInfOp : NN_PredicateOp<"is_inf"> {
  let summary = "whether x is infinite";
  let arguments = (ins NN_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
}

def NN_CastOp : NN_Op<"cast", [Pure, CostOpInterface, NN_Vjp, DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "conversion of element type";
  let description = [{
    Floats round to nearest even; float to integer truncates towards zero (saturating, NaN to 0); integers wrap; to i1:
    not equal to zero.
  }] #
      NN_Example<"%x: tensor<4xf32>",
                 "nn.cast %x : tensor<4xf32> to tensor<4xi32>",
                 "tensor<4xi32>">.text;
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def NN_BitcastOp : NN_Op<"bitcast", [Pure, CostOpInterface, NoGradient, DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "reads the bits as another element type of the same width";
  let description = [{The element type may be of another kind, never of another width.}] #
      NN_Example<"%x: tensor<4xf32>",
                 "nn.bitcast %x : tensor<4xf32> to tensor<4xi32>",
                 "tensor<4xi32>">.text;
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // SPRIG_NN_NNUNARY_TD
