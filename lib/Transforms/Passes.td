//===- Passes.td - Passes on the nn dialect ---------------------------------------------------------------------------===//
//
// One entry, one .cpp and one test per pass, of one stem: `layout`, Layout.cpp, test/Transforms/layout.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_TRANSFORMS_PASSES_TD
#define SPRIG_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fuse : Pass<"sprig-fuse", "::mlir::func::FuncOp"> {
  let summary = "Forms dispatches: groups of operations that become one kernel each";
  let description = [{
    Contractions, convolutions, pools and gathers take the elementwise operations behind them; elementwise operations
    and reductions over the same axes of one shape share loops (softmax, normalisations); slices, broadcasts and
    transposes that keep the innermost dimension are read in place. What remains is a dispatch of its own. Fusion never
    changes a bit. Remarks of the category `fuse` say what was put together and what was kept apart.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", "true", "off: every operation is a dispatch of its own">,
  ];
}

#endif // SPRIG_TRANSFORMS_PASSES_TD
