// A model phase by phase; what one phase prints the next one reads.
// RUN: %sprig-opt %s --sprig-phase-import | FileCheck %s --check-prefix=IMPORT
// RUN: %sprig-opt %s --sprig-phase-import | %sprig-opt --sprig-phase-canonicalize | FileCheck %s --check-prefix=CANON
// RUN: %sprig-opt %s --sprig-phase-canonicalize=freeze=false | FileCheck %s --check-prefix=STATE
// RUN: %sprig-opt %s --sprig-phase-canonicalize | %sprig-opt --sprig-phase-fuse | FileCheck %s --check-prefix=FUSE
// RUN: %sprig-opt %s --sprig-phase-canonicalize | %sprig-opt --sprig-phase-fuse=fuse=false | FileCheck %s --check-prefix=APART
// RUN: %sprig-opt %s --sprig-phase-canonicalize | %sprig-opt --sprig-phase-fuse | %sprig-opt --sprig-phase-schedule \
// RUN:   | %sprig-opt --sprig-phase-plan | FileCheck %s --check-prefix=PLAN

// IMPORT: nn.get_param @w
// CANON: nn.constant
// CANON-NOT: nn.param
// STATE: nn.get_param @w
// STATE: nn.param @w
// FUSE-COUNT-1: kernel.dispatch
// FUSE: kernel.matmul_packed
// FUSE: nn.relu
// FUSE-NOT: kernel.dispatch
// APART-COUNT-2: kernel.dispatch
// PLAN: exec.kernel
// PLAN: exec.program @main inputs("x": tensor<4x8xf32>) outputs("y": tensor<4x16xf32>) arena 0
// PLAN: exec.dispatch
func.func @main(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x16xf32> {nn.name = "y"}) {
  %w = nn.get_param @w : tensor<8x16xf32>
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32>
  %1 = nn.relu %0 : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
nn.param @w = dense<0.5> : tensor<8x16xf32>
