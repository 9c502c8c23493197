//===- NNYield.td - What ends a region -----------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNYIELD_TD
#define SPRIG_NN_NNYIELD_TD

include "dialects/NN/NNBase.td"

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ScanOp", "CondOp", "WhileOp", "CustomGradientOp",
                                                                            "CheckpointOp"]>]> {
  let summary = "gives a region's values";
  let description = [{
    Its operands are the next values and outputs of a scan, what a branch or a loop's step gives, or the values of a part that
    differentiation treats as a whole, in order.

    Example:

    ```mlir
    func.func @example(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %r = nn.cond %p with (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        nn.yield %a : tensor<4xf32>
      } else {
        %0 = nn.exp %a : tensor<4xf32>
        nn.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

#endif // SPRIG_NN_NNYIELD_TD
