//===- NNStructure.td - Dispatches ---------------------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNSTRUCTURE_TD
#define SPRIG_NN_NNSTRUCTURE_TD

include "dialects/NN/NNBase.td"

def NN_DispatchOp : NN_Op<"dispatch", [MadeAfterGradients, IsolatedFromAbove, SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">, Pure]> {
  let summary = "a group of operations that becomes one kernel";
  let description = [{
    The region's arguments are the operands in order; it yields the results. `label` names the kernel for people.

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = nn.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.relu %a : tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands, OptionalAttr<StrAttr>:$label);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // SPRIG_NN_NNSTRUCTURE_TD
