//===- NNGradient.td - Requests for gradients -----------------------------------------------------------------------------===//
//
// What front-ends write where a gradient is wanted. The differentiate pass replaces all of it; nothing is left behind.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNGRADIENT_TD
#define SPRIG_NN_NNGRADIENT_TD

include "dialects/NN/NNBase.td"

def NN_GradientOp : NN_Op<"gradient", [Pure, NoGradient, AttrSizedOperandSegments]> {
  let summary = "gradients of a value with respect to others (reverse mode)";
  let description = [{
    Results: for each target, the sum over the outputs of cotangent times Jacobian (a vector-Jacobian product), of the
    target's type. Without `seed` there is one output of one element, whose cotangent is 1. A target that the outputs do
    not depend on has the gradient zero. What is between may hold gradients itself: higher orders.

    Example:

    ```mlir
    func.func @example(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = nn.mul %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
      %1 = nn.reduce sum %0 axes = [0, 1] : tensor<2x3xf32>
      %r = nn.gradient %1 wrt %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_FloatTensor>:$outputs, Variadic<NN_FloatTensor>:$cotangents,
                       Variadic<NN_FloatTensor>:$targets);
  let results = (outs Variadic<NN_FloatTensor>:$gradients);
  let assemblyFormat = [{
    $outputs (`seed` $cotangents^)? `wrt` $targets attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_JvpOp : NN_Op<"jvp", [Pure, NoGradient, AttrSizedOperandSegments]> {
  let summary = "how values change along a direction of others (a Jacobian-vector product)";
  let description = [{
    Results: for each output, the Jacobian with respect to the targets times their `tangents`, of the output's type.

    Example:

    ```mlir
    func.func @example(%x: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
      %0 = nn.sin %x : tensor<3xf32>
      %r = nn.jvp %0 wrt %x along %v : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_FloatTensor>:$outputs, Variadic<NN_FloatTensor>:$targets,
                       Variadic<NN_FloatTensor>:$tangents);
  let results = (outs Variadic<NN_FloatTensor>:$derivatives);
  let assemblyFormat = [{
    $outputs `wrt` $targets `along` $tangents attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_StopGradientOp : NN_InferredOp<"stop_gradient", [NoGradient]> {
  let summary = "the same value, through which no gradient flows";
  let description = [{For differentiation alone; the pass drops it.}] #
      NN_Example<"%x: tensor<4xf32>", "nn.stop_gradient %x : tensor<4xf32>", "tensor<4xf32>">.text;
  let arguments = (ins NN_FloatTensor:$operand);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def NN_CustomGradientOp : NN_Op<"custom_gradient", [Pure, NN_Vjp, IsolatedFromAbove,
                                                    SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">]> {
  let summary = "a function with a gradient of its own";
  let description = [{
    `forward` takes the operands and yields the results. `backward` takes the operands, the results and the cotangents of
    the results, and yields a cotangent for each operand. The pass takes either in place of the operation.

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = "nn.custom_gradient"(%x) ({
      ^bb0(%a: tensor<4xf32>):
        %0 = nn.round %a : tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      }, {
      ^bb0(%a: tensor<4xf32>, %y: tensor<4xf32>, %g: tensor<4xf32>):
        nn.yield %g : tensor<4xf32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$forward, SizedRegion<1>:$backward);
  let hasVerifier = 1;
}

def NN_CheckpointOp : NN_Op<"checkpoint", [Pure, NN_Vjp, IsolatedFromAbove,
                                           SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">]> {
  let summary = "a part whose inner values are computed again for its gradient rather than kept";
  let description = [{
    The region takes the operands and yields the results. Its gradient runs the region a second time, so that of all its
    values only the operands are kept from the forward to the backward pass (arXiv:1604.06174).

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = "nn.checkpoint"(%x) ({
      ^bb0(%a: tensor<4xf32>):
        %0 = nn.sin %a : tensor<4xf32>
        %1 = nn.exp %0 : tensor<4xf32>
        nn.yield %1 : tensor<4xf32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def NN_AfterOp : NN_Op<"after", [Pure, NN_Vjp, SharesStorage, AllTypesMatch<["operand", "result"]>]> {
  let summary = "the same value, but not before others are there";
  let description = [{
    Keeps what is computed from it after the operations that give `dependencies`: rematerialised values are not merged
    with those that they stand for. Between dispatches it is a view.
  }] #
      NN_Example<"%x: tensor<4xf32>, %g: tensor<2xf32>", "nn.after %x, %g : tensor<4xf32>, tensor<2xf32>",
                 "tensor<4xf32>">.text;
  let arguments = (ins NN_Tensor:$operand, Variadic<NN_Tensor>:$dependencies);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `,` $dependencies attr-dict `:` type($operand) `,` type($dependencies)";
}

#endif // SPRIG_NN_NNGRADIENT_TD
