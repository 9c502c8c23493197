//===- KernelDispatch.td - Dispatches and what ends them -------------------------------------------------------------===//

#ifndef SPRIG_KERNEL_KERNELDISPATCH_TD
#define SPRIG_KERNEL_KERNELDISPATCH_TD

include "dialects/Kernel/KernelAttributes.td"

def Kernel_DispatchOp
    : Kernel_Op<"dispatch", [IsolatedFromAbove, SingleBlockImplicitTerminator<"::sprig::kernel::YieldOp">, Pure]> {
  let summary = "a group of operations that becomes one kernel";
  let description = [{
    The region's arguments are the operands in order; it yields the results. `label` names the kernel for people; `tile`
    is one that somebody chose for it, where it is there. With `tf32` the kernel may round the factors of its product
    (of matrices, or of a convolution) to 10 bits of mantissa. With `skip_masked` it may leave out the keys that an
    attention's own mask excludes, as if all their scores and values were finite.

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.relu %a : tensor<4xf32>
        kernel.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands, OptionalAttr<StrAttr>:$label, OptionalAttr<Kernel_TileAttr>:$tile,
                       UnitAttr:$tf32, UnitAttr:$skip_masked);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

// Beside nn.yield, so that nn does not know who stands on it.
def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"DispatchOp">]> {
  let summary = "gives the results of a dispatch";
  let description = [{
    Its operands are the results of the dispatch that it ends, in order.

    Example:

    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.relu %a : tensor<4xf32>
        kernel.yield %0 : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

#endif // SPRIG_KERNEL_KERNELDISPATCH_TD
