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
  let extraClassDefinition = NN_typeOfOperand;
}

// A function of one float that an operation of the dialect math computes.
class NN_MathOp<string mnemonic, string function, Trait gradient = NN_Vjp>
    : NN_UnaryOp<mnemonic, NN_FloatTensor, "tensor<2x3xf32>", gradient> {
  let extraClassDefinition = NN_typeOfOperand # [{
    ::mlir::Value $cppClass::buildScalar(::sprig::ScalarBuilder &s, ::mlir::ValueRange args) {
      return ::mlir::math::}] # function # [{Op::create(s.b, s.loc, args[0]);
    }
  }];
}

def NN_AbsOp : NN_UnaryOp<"abs", NN_NumberTensor> { let summary = "absolute value"; }
def NN_NegOp : NN_UnaryOp<"neg", NN_NumberTensor> { let summary = "negation; integers wrap"; }
def NN_SignOp : NN_UnaryOp<"sign", NN_NumberTensor, "tensor<2x3xf32>", NoGradient> { let summary = "-1, 0 or 1 by the sign; NaN stays NaN"; }
def NN_ExpOp : NN_MathOp<"exp", "Exp"> { let summary = "exponential"; }
def NN_LogOp : NN_MathOp<"log", "Log"> { let summary = "natural logarithm"; }
def NN_Log1pOp : NN_MathOp<"log1p", "Log1p"> { let summary = "logarithm of 1 + x"; }
def NN_Expm1Op : NN_MathOp<"expm1", "ExpM1"> { let summary = "exp(x) - 1"; }
def NN_SqrtOp : NN_MathOp<"sqrt", "Sqrt"> { let summary = "square root"; }
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", NN_FloatTensor> { let summary = "1 / sqrt(x), two correctly rounded steps"; }
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", NN_FloatTensor> { let summary = "1 / x"; }
def NN_FloorOp : NN_MathOp<"floor", "Floor", NoGradient> { let summary = "largest integer not above"; }
def NN_CeilOp : NN_MathOp<"ceil", "Ceil", NoGradient> { let summary = "smallest integer not below"; }
def NN_RoundOp : NN_MathOp<"round", "RoundEven", NoGradient> { let summary = "nearest integer, halves to even"; }
def NN_SinOp : NN_MathOp<"sin", "Sin"> { let summary = "sine of radians"; }
def NN_CosOp : NN_MathOp<"cos", "Cos"> { let summary = "cosine of radians"; }
def NN_TanOp : NN_MathOp<"tan", "Tan"> { let summary = "tangent of radians"; }
def NN_AsinOp : NN_MathOp<"asin", "Asin"> { let summary = "arc sine in radians"; }
def NN_AcosOp : NN_MathOp<"acos", "Acos"> { let summary = "arc cosine in radians"; }
def NN_AtanOp : NN_MathOp<"atan", "Atan"> { let summary = "arc tangent in radians"; }
def NN_SinhOp : NN_MathOp<"sinh", "Sinh"> { let summary = "hyperbolic sine"; }
def NN_CoshOp : NN_MathOp<"cosh", "Cosh"> { let summary = "hyperbolic cosine"; }
def NN_TanhOp : NN_MathOp<"tanh", "Tanh"> { let summary = "hyperbolic tangent"; }
def NN_AsinhOp : NN_MathOp<"asinh", "Asinh"> { let summary = "inverse hyperbolic sine"; }
def NN_AcoshOp : NN_MathOp<"acosh", "Acosh"> { let summary = "inverse hyperbolic cosine"; }
def NN_AtanhOp : NN_MathOp<"atanh", "Atanh"> { let summary = "inverse hyperbolic tangent"; }
def NN_ErfOp : NN_MathOp<"erf", "Erf"> { let summary = "error function"; }
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
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(const Inference &infer, Adaptor op) {
      return infer.giveTypeOf(op.getOperand(), /*asFlags=*/true);
    }
  }];
}
def NN_IsNanOp : NN_PredicateOp<"is_nan"> { let summary = "whether x is not a number"; }
def NN_IsInfOp : NN_PredicateOp<"is_inf"> {
  let summary = "whether x is infinite";
  let arguments = (ins NN_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
}

class NN_ConversionOp<string mnemonic, Trait gradient, string text>
    : NN_Op<mnemonic, [Pure, CostOpInterface, gradient, DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let description = text # NN_Example<"%x: tensor<4xf32>", "nn." # mnemonic # " %x : tensor<4xf32> to tensor<4xi32>",
                                      "tensor<4xi32>">.text;
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def NN_CastOp : NN_ConversionOp<"cast", NN_Vjp, [{
    Floats round to nearest even; float to integer truncates towards zero (saturating, NaN to 0); integers wrap; to i1:
    not equal to zero.
  }]> {
  let summary = "conversion of element type";
}
def NN_BitcastOp : NN_ConversionOp<"bitcast", NoGradient, "The element type may be of another kind, never of another width."> {
  let summary = "reads the bits as another element type of the same width";
}

#endif // SPRIG_NN_NNUNARY_TD
