//===- KernelBase.td - The kernel dialect and its op classes ----------------------------------------------------------===//

#ifndef SPRIG_KERNEL_KERNELBASE_TD
#define SPRIG_KERNEL_KERNELBASE_TD

include "dialects/NN/NNBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::sprig::kernel";
  let summary = "Kernels: what targets make of nn operations";
  let description = [{
    Operations that no front-end and no importer makes. The layout passes of a target rewrite `nn` operations into the
    forms that its kernels compute: products and convolutions over packed panels, Winograd's short convolutions, parts
    of gradients. The pass `fuse` groups those and `nn` operations into dispatches, each of which becomes one kernel. All of them come
    after differentiation, so none has a gradient.

    A dispatch may have a `tile`: `#kernel.register_tile` for a contraction, `#kernel.loop_tile` for elementwise loops.
    A target takes what fits it, and makes its own choice otherwise. No tile changes a bit of a result.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

// A pure operation whose result types follow from operands and attributes; the inference is its verifier too.
class Kernel_InferredOp<string mnemonic, list<Trait> traits = [], Trait cost = CostOpInterface>
    : Kernel_Op<mnemonic, !listconcat(traits, [Pure, NN_InferTypes, cost])>;

#endif // SPRIG_KERNEL_KERNELBASE_TD
