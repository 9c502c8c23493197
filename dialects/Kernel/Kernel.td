//===- Kernel.td - How dispatches become kernels -------------------------------------------------------------------------===//

#ifndef SPRIG_KERNEL_KERNEL_TD
#define SPRIG_KERNEL_KERNEL_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::sprig::kernel";
  let summary = "How dispatches become kernels";
  let description = [{
    What is decided about a kernel beside what it computes. An `nn.dispatch` may have the attribute `kernel.tile`:
    `#kernel.register_tile` for a contraction, `#kernel.loop_tile` for elementwise loops. A target takes what fits it, and
    makes its own choice otherwise. No tile changes a bit of a result.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Kernel_RegisterTileAttr : AttrDef<Kernel_Dialect, "RegisterTile"> {
  let summary = "the accumulators of a contraction that are in registers at one time";
  let description = [{
    Rows of the result, and vectors of columns of each.

    ```mlir
    #tile = #kernel.register_tile<rows = 6, vectors = 2>
    ```
  }];
  let mnemonic = "register_tile";
  let parameters = (ins "int64_t":$rows, "int64_t":$vectors);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_LoopTileAttr : AttrDef<Kernel_Dialect, "LoopTile"> {
  let summary = "the elements of one tile of elementwise loops, along the innermost dimension";
  let description = [{
    ```mlir
    #tile = #kernel.loop_tile<elements = 4096>
    ```
  }];
  let mnemonic = "loop_tile";
  let parameters = (ins "int64_t":$elements);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // SPRIG_KERNEL_KERNEL_TD
