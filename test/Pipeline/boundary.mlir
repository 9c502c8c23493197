// Each phase refuses what it does not leave behind.
// RUN: not %sprig-opt %s --sprig-phase-import 2>&1 | FileCheck %s --check-prefix=IMPORT
// RUN: not %sprig-opt %s --sprig-phase-plan 2>&1 | FileCheck %s --check-prefix=PLAN

// IMPORT: boundary.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'kernel.dispatch' op is left after phase 'import', which does not allow it
// PLAN: boundary.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'func.func' op is left after phase 'plan', which does not allow it
// PLAN: boundary.mlir:[[#@LINE+6]]:{{[0-9]+}}: error: 'func.return' op is left after phase 'plan', which does not allow it
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %v = nn.relu %a : tensor<4xf32>
    kernel.yield %v : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
