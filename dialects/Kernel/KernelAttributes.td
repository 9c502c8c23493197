//===- KernelAttributes.td - What is decided about a dispatch's kernel beside what it computes -------------------------===//

#ifndef SPRIG_KERNEL_KERNELATTRIBUTES_TD
#define SPRIG_KERNEL_KERNELATTRIBUTES_TD

include "dialects/Kernel/KernelBase.td"

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

def Kernel_TileAttr
    : AnyAttrOf<[Kernel_RegisterTileAttr, Kernel_LoopTileAttr], "#kernel.register_tile or #kernel.loop_tile">;

#endif // SPRIG_KERNEL_KERNELATTRIBUTES_TD
