// RUN: %sprig-opt %s --split-input-file --sprig-repeat-pieces=flops-per-share=100 | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-repeat-pieces=threads=1 | FileCheck %s --check-prefix=ALONE

exec.device @cpu "cpu"
exec.constant @w = dense<2.0> : tensor<4xf32>
exec.kernel @mul(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> attributes {tiles = 2 : i64, flops = 50 : i64, bytes = 80 : i64, scratch = 16 : i64} {
  %0 = kernel.dispatch (%a = %x : tensor<2x4xf32>, %b = %w : tensor<4xf32>) -> tensor<2x4xf32> {
    %1 = nn.mul %a, %b : tensor<2x4xf32>, tensor<4xf32>
    kernel.yield %1 : tensor<2x4xf32>
  }
  exec.yield %0 : tensor<2x4xf32>
}

// What the kernels hand to each other is memory of the thread, behind what they need themselves; a share of 100 flops
// is one of the eight pieces.
// CHECK: exec.kernel @main_pieces(%[[X:.*]]: memref<16x4xf32>, %[[W:.*]]: memref<4xf32>, %[[Y:.*]]: memref<16x4xf32>)
// CHECK-SAME: attributes {bytes = 1280 : i64, flops = 800 : i64, label = "main_pieces", scratch = 96 : i64, tiles = 8 : i64}
// CHECK-DAG: %[[PX:.*]] = exec.piece %[[X]] : memref<16x4xf32> to memref<2x4xf32>
// CHECK-DAG: %[[PY:.*]] = exec.piece %[[Y]] : memref<16x4xf32> to memref<2x4xf32>
// CHECK: %[[T:.*]] = exec.scratch at 64 : memref<2x4xf32>
// CHECK-NEXT: exec.call @mul(%[[PX]], %[[W]], %[[T]]) each tile
// CHECK-NEXT: exec.call @mul(%[[T]], %[[W]], %[[PY]]) each tile
// CHECK: exec.program @main inputs("x": tensor<16x4xf32>) outputs("y": tensor<16x4xf32>) arena 0 independent_samples {
// CHECK-NEXT: exec.buffer input[0] : memref<16x4xf32>
// CHECK-NEXT: exec.buffer constant @w : memref<4xf32>
// CHECK-NEXT: exec.buffer output[0] : memref<16x4xf32>
// CHECK-NEXT: exec.lane on @cpu {
// CHECK-NEXT: exec.dispatch @main_pieces({{.*}}) named "first and 1 more"
// CHECK-NEXT: }
// ALONE: exec.kernel @main_pieces({{.*}}) attributes {bytes = 1280 : i64, flops = 800 : i64, grain = 8 : i64,
exec.program @main inputs("x": tensor<2x4xf32>) outputs("y": tensor<2x4xf32>) arena 32 independent_samples attributes {kernel.pieces = 8 : i64} {
  %x = exec.buffer input[0] : memref<2x4xf32>
  %w = exec.buffer constant @w : memref<4xf32>
  %t = exec.buffer arena at 0 : memref<2x4xf32>
  %y = exec.buffer output[0] : memref<2x4xf32>
  exec.lane on @cpu {
    exec.dispatch @mul(%x, %w, %t) named "first" : memref<2x4xf32>, memref<4xf32>, memref<2x4xf32>
    exec.dispatch @mul(%t, %w, %y) named "second" : memref<2x4xf32>, memref<4xf32>, memref<2x4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<2xf32>
}

// A command that is no kernel is one of all pieces, and what it touches is there for all of them.
// CHECK: exec.program @copies inputs("x": tensor<6xf32>) outputs("y": tensor<6xf32>, "z": tensor<6xf32>) arena 64
// CHECK: %[[T:.*]] = exec.buffer arena at 0 : memref<6xf32>
// CHECK: exec.dispatch @copies_pieces(%{{.*}}, %[[T]])
// CHECK-NEXT: exec.copy %[[T]] to %[[Y:.*]] : memref<6xf32> to memref<6xf32>
// CHECK-NEXT: exec.dispatch @copies_pieces_0(%[[T]], %{{.*}})
exec.program @copies inputs("x": tensor<2xf32>) outputs("y": tensor<2xf32>, "z": tensor<2xf32>) arena 64 attributes {kernel.pieces = 3 : i64} {
  %x = exec.buffer input[0] : memref<2xf32>
  %t = exec.buffer arena at 0 : memref<2xf32>
  %y = exec.buffer output[0] : memref<2xf32>
  %z = exec.buffer output[1] : memref<2xf32>
  exec.lane on @cpu {
    exec.dispatch @relu(%x, %t) : memref<2xf32>, memref<2xf32>
    exec.copy %t to %y : memref<2xf32> to memref<2xf32>
    exec.dispatch @relu(%t, %z) : memref<2xf32>, memref<2xf32>
  }
}
