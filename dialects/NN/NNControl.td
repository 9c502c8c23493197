//===- NNControl.td - Control flow that depends on data ------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNCONTROL_TD
#define SPRIG_NN_NNCONTROL_TD

include "dialects/NN/NNBase.td"

// Both become one kernel, whose regions are dispatches in it. Regions see nothing but their arguments: values from
// outside and state (nn.get_param) come in as operands.

def NN_CondOp : NN_Op<"cond", [IsolatedFromAbove, SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">, Pure, NN_Vjp,
                               NN_ContractionCost]> {
  let summary = "one of two regions, chosen by a value";
  let description = [{
    Runs `thenRegion` where `predicate`, a scalar of i1, is true, else `elseRegion`; the other one is not computed. Operands:
    the predicate, then `inputs`. Both regions take the inputs, in order and of their types, as arguments and yield the
    results. The gradient is a cond of the regions' gradients, on the same predicate.

    Example:

    ```mlir
    func.func @example(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %r = nn.cond %p with (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.mul %a, %b : tensor<4xf32>, tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      } else {
        %0 = nn.exp %b : tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins NN_BoolTensor:$predicate, Variadic<NN_Tensor>:$inputs);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getThen() { return getThenRegion().front(); }
    ::mlir::Block &getElse() { return getElseRegion().front(); }
  }];
}

def NN_WhileOp : NN_Op<"while", [IsolatedFromAbove, SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">,
                                 NoMemoryEffect, AttrSizedOperandSegments, NN_Vjp, NN_ContractionCost]> {
  let summary = "a loop that runs as long as a condition holds";
  let description = [{
    Carries values from step to step: they start as `initial`, and the results are the last of them. Before each step
    `condition` is computed of the carried values; where it yields false, the loop ends, possibly before the first step.
    Else `body` yields the next carried values. Operands: `initial`, then `invariants`, the same in every step
    (`operandSegmentSizes` has the two numbers). Both regions take the carried values and then the invariants as
    arguments; `condition` yields one scalar of i1, `body` as many values as are carried, of their types.

    With `max_steps` the loop also ends after that many steps, without an error. Without it, a condition that stays true
    never ends: a kernel that runs cannot be cancelled.

    The number of steps is known only when the loop runs, so there is no gradient in reverse mode: nn.scan, which runs a
    fixed number, has one.

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>, %w: tensor<4xf32>, %limit: tensor<f32>) -> tensor<4xf32> {
      %r = nn.while max_steps = 100 carry (%s = %x : tensor<4xf32>) with (%f = %w : tensor<4xf32>, %l = %limit : tensor<f32>) {
        %0 = nn.reduce sum %s axes = [0] : tensor<4xf32>
        %1 = nn.compare lt %0, %l : tensor<f32>, tensor<f32>
        nn.yield %1 : tensor<i1>
      } do {
        %0 = nn.mul %s, %f : tensor<4xf32>, tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$initial, Variadic<NN_Tensor>:$invariants, OptionalAttr<I64Attr>:$max_steps);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    unsigned getNumCarried() { return getInitial().size(); }
    ::mlir::Block &getTest() { return getCondition().front(); }
    ::mlir::Block &getStep() { return getBody().front(); }
  }];
}

#endif // SPRIG_NN_NNCONTROL_TD
