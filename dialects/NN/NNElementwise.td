//===- NNElementwise.td - Elementwise primitives of several operands -----------------------------------------------===//

#ifndef SPRIG_NN_NNELEMENTWISE_TD
#define SPRIG_NN_NNELEMENTWISE_TD

include "dialects/NN/NNBase.td"

// Two operands of one element type, the result has the broadcast shape.
class NN_BinaryOp<string mnemonic, TypeConstraint operand, list<Trait> traits = [], string element = "f32",
                  Trait gradient = NN_Vjp>
    : NN_ElementwiseOp<mnemonic, !listconcat(traits, [gradient])> {
  let description = "Of elements at the same position of the broadcast shape (NumPy's rules). Half types are computed in f32 "
                    "and rounded once." #
                    NN_Example<"%x: tensor<2x3x" # element # ">, %y: tensor<3x" # element # ">",
                               "nn." # mnemonic # " %x, %y : tensor<2x3x" # element # ">, tensor<3x" # element # ">",
                               "tensor<2x3x" # element # ">">.text;
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(const Inference &infer, Adaptor op) {
      return inferBinary(infer, op.getLhs(), op.getRhs());
    }
  }];
}

def NN_AddOp : NN_BinaryOp<"add", NN_NumberTensor, [Commutative]> { let summary = "sum"; let hasFolder = 1; }
def NN_SubOp : NN_BinaryOp<"sub", NN_NumberTensor> { let summary = "difference"; let hasFolder = 1; }
def NN_MulOp : NN_BinaryOp<"mul", NN_NumberTensor, [Commutative]> { let summary = "product"; let hasFolder = 1; }
def NN_DivOp : NN_BinaryOp<"div", NN_NumberTensor> {
  let summary = "quotient; integers truncate towards zero, division by zero is an error at run time";
  let hasFolder = 1;
}
def NN_RemOp : NN_BinaryOp<"rem", NN_NumberTensor> {
  let summary = "remainder with the sign of the dividend (C's fmod)";
}
def NN_ModOp : NN_BinaryOp<"mod", NN_NumberTensor> {
  let summary = "remainder with the sign of the divisor (NumPy's mod)";
}
def NN_PowOp : NN_ElementwiseOp<"pow", [NN_Vjp]> {
  let summary = "lhs to the power of rhs; the result has the element type of lhs";
  let description = [{Integers multiply and wrap; a negative exponent of an integer gives the truncated quotient. Special values are those of IEEE 754.}] #
      NN_Example<"%x: tensor<2x3xf32>, %y: tensor<i32>",
                 "nn.pow %x, %y : tensor<2x3xf32>, tensor<i32>",
                 "tensor<2x3xf32>">.text;
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$rhs);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
// Operands that are equal have half of the gradient each. With `bound` the right one is a bound, which has all of it.
class NN_ExtremumOp<string mnemonic> : NN_BinaryOp<mnemonic, NN_NumberTensor, [Commutative]> {
  let arguments = (ins NN_NumberTensor:$lhs, NN_NumberTensor:$rhs, UnitAttr:$bound);
}
def NN_MaxOp : NN_ExtremumOp<"max"> { let summary = "larger one; NaN if either is"; }
def NN_MinOp : NN_ExtremumOp<"min"> { let summary = "smaller one; NaN if either is"; }
def NN_AndOp : NN_BinaryOp<"and", NN_LogicTensor, [Commutative], "i1", NoGradient> { let summary = "logical or bitwise and"; }
def NN_OrOp : NN_BinaryOp<"or", NN_LogicTensor, [Commutative], "i1", NoGradient> { let summary = "logical or bitwise or"; }
def NN_XorOp : NN_BinaryOp<"xor", NN_LogicTensor, [Commutative], "i1", NoGradient> { let summary = "logical or bitwise exclusive or"; }
def NN_ShlOp : NN_BinaryOp<"shl", NN_IntTensor, [], "ui8", NoGradient> { let summary = "shift to the left; 0 when by the width or more"; }
def NN_ShrOp : NN_BinaryOp<"shr", NN_IntTensor, [], "ui8", NoGradient> {
  let summary = "shift to the right, arithmetic for signed types; by the width or more as by width - 1 twice";
}

def NN_ComparePredicate : I32EnumAttr<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::sprig::ir";
  let genSpecializedAttr = 0;
}
def NN_ComparePredicateAttr : EnumAttr<NN_Dialect, NN_ComparePredicate, "predicate">;
def NN_CompareOp : NN_ElementwiseOp<"compare", [NoGradient]> {
  let summary = "comparison; with NaN only ne holds";
  let description = [{Predicates are eq, ne, lt, le, gt and ge; the operands broadcast. i1 compares as 0 and 1.}] #
      NN_Example<"%x: tensor<2x3xf32>, %y: tensor<3xf32>",
                 "nn.compare lt %x, %y : tensor<2x3xf32>, tensor<3xf32>",
                 "tensor<2x3xi1>">.text;
  let arguments = (ins NN_ComparePredicateAttr:$predicate, NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
def NN_SelectOp : NN_ElementwiseOp<"select", [NN_Vjp]> {
  let summary = "on_true where condition holds, else on_false";
  let description = [{All three operands broadcast.}] #
      NN_Example<"%c: tensor<2x1xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>",
                 "nn.select %c, %x, %y : tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>",
                 "tensor<2x3xf32>">.text;
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$on_true, NN_Tensor:$on_false);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false)
  }];
}

#endif // SPRIG_NN_NNELEMENTWISE_TD
