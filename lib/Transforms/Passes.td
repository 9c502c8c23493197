//===- Passes.td - Passes on the nn dialect ---------------------------------------------------------------------------===//
//
// One entry, one .cpp and one test per pass, of one stem: `layout`, Layout.cpp, test/Transforms/layout.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_TRANSFORMS_PASSES_TD
#define SPRIG_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // SPRIG_TRANSFORMS_PASSES_TD
