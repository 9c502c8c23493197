// Every operation of the exec dialect, written and read again.
// RUN: %sprig-opt %s | %sprig-opt | FileCheck %s
// RUN: %sprig-opt %s --mlir-print-op-generic | %sprig-opt | FileCheck %s

// CHECK: exec.device @cpu0 "cpu"
exec.device @cpu0 "cpu"
// CHECK: exec.device @gpu1 "cuda" arch "sm_90" ordinal 1
exec.device @gpu1 "cuda" arch "sm_90" ordinal 1
// CHECK: exec.constant @weights = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
exec.constant @weights = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
nn.param @scale = dense<2.0> : tensor<4xf32>

// CHECK: exec.kernel @mul(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME: attributes {bytes = 48 : i64, flops = 4 : i64, grain = 2 : i64, label = "mul", scratch = 64 : i64, tiles = 4 : i64}
exec.kernel @mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>
    attributes {tiles = 4 : i64, grain = 2 : i64, scratch = 64 : i64, flops = 4 : i64, bytes = 48 : i64, label = "mul"} {
  %0 = kernel.dispatch "mul" (%x = %a : tensor<4xf32>, %y = %b : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.mul %x, %y : tensor<4xf32>, tensor<4xf32>
    kernel.yield %1 : tensor<4xf32>
  }
  // CHECK: exec.yield %{{.*}} : tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

// A kernel of two parts; what is default is not printed.
// CHECK: exec.kernel @both(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) attributes {tiles = 1 : i64}
exec.kernel @both(%x: memref<4xf32>, %w: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64, grain = 1 : i64} {
  // CHECK: exec.call @mul(%{{.*}}, %{{.*}}, %{{.*}}) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%x, %w, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%y, %w, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
}

// Side by side: two of the callee's tiles in each of the first two, then a tile of two calls after each other.
// CHECK: exec.kernel @beside({{.*}}) attributes {tiles = 3 : i64}
exec.kernel @beside(%x: memref<4xf32>, %w: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {tiles = 3 : i64} {
  // CHECK: exec.call @mul(%{{.*}}, %{{.*}}, %{{.*}}) in tiles 0 to 2 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%x, %w, %y) in tiles 0 to 2 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  // CHECK: exec.call @mul(%{{.*}}, %{{.*}}, %{{.*}}) in tiles 2 to 3 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%x, %w, %z) in tiles 2 to 3 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  // CHECK: exec.call @mul(%{{.*}}, %{{.*}}, %{{.*}}) in tiles 2 to 3 : memref<4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%z, %w, %z) in tiles 2 to 3 : memref<4xf32>, memref<4xf32>, memref<4xf32>
}

// Pieces: every tile has all calls, on its own part of each buffer.
// CHECK: exec.kernel @pieces({{.*}}) attributes {scratch = 80 : i64, tiles = 2 : i64}
exec.kernel @pieces(%x: memref<2x4xf32>, %w: memref<4xf32>, %y: memref<2x4xf32>) attributes {scratch = 80 : i64, tiles = 2 : i64} {
  // CHECK-NEXT: %[[X:.*]] = exec.piece %{{.*}} : memref<2x4xf32> to memref<1x4xf32>
  %0 = exec.piece %x : memref<2x4xf32> to memref<1x4xf32>
  %1 = exec.piece %y : memref<2x4xf32> to memref<1x4xf32>
  // CHECK: %[[T:.*]] = exec.scratch at 64 : memref<4xf32>
  %2 = exec.scratch at 64 : memref<4xf32>
  // CHECK: exec.call @mul(%[[X]], %{{.*}}, %[[T]]) each tile : memref<1x4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%0, %w, %2) each tile : memref<1x4xf32>, memref<4xf32>, memref<4xf32>
  exec.call @mul(%2, %w, %1) each tile : memref<4xf32>, memref<4xf32>, memref<1x4xf32>
}

// CHECK: exec.program @main inputs("x": tensor<2x2xf32>) outputs("y": tensor<4xf32>) arena 64 independent_samples
exec.program @main inputs("x": tensor<2x2xf32>) outputs("y": tensor<4xf32>) arena 64 independent_samples {
  // CHECK: exec.buffer input[0] named "x" : memref<2x2xf32>
  %x = exec.buffer input[0] named "x" : memref<2x2xf32>
  // CHECK: exec.buffer constant @weights : memref<4xf32>
  %w = exec.buffer constant @weights : memref<4xf32>
  // CHECK: exec.buffer state @scale : memref<4xf32>
  %s = exec.buffer state @scale : memref<4xf32>
  // CHECK: exec.buffer arena at 0 : memref<4xf32>
  %t = exec.buffer arena at 0 : memref<4xf32>
  %y = exec.buffer output[0] : memref<4xf32>
  // CHECK: exec.lane on @cpu0
  exec.lane on @cpu0 {
    // A kernel does not care for shapes: 2x2 elements are 4.
    // CHECK: exec.dispatch @mul(%{{.*}}, %{{.*}}, %{{.*}}) named "first" : memref<2x2xf32>, memref<4xf32>, memref<4xf32>
    exec.dispatch @mul(%x, %w, %t) named "first" : memref<2x2xf32>, memref<4xf32>, memref<4xf32>
    // CHECK: exec.record 0
    exec.record 0
    // CHECK: exec.copy %{{.*}} to %{{.*}} : memref<4xf32> to memref<4xf32>
    exec.copy %t to %y : memref<4xf32> to memref<4xf32>
  }
  exec.lane on @cpu0 {
    // CHECK: exec.wait 0
    exec.wait 0
  }
}

// CHECK: exec.program @nothing inputs() outputs()
exec.program @nothing inputs() outputs() {
}

// Rows that need the one above; two devices, each with an arena; a result that may take an operand's bytes.
// CHECK: exec.kernel @rows
// CHECK-SAME: ranges = [#exec.tile_range<0 : -16 + 16 * tile, 32>, #exec.tile_range<1 : 0 + 16 * tile, 16>]
exec.kernel @rows(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {tiles = 4 : i64, ranges = [#exec.tile_range<0 : -16 + 16 * tile, 32>, #exec.tile_range<1 : 0 + 16 * tile, 16>]} {
  exec.yield %x : tensor<4x4xf32>
}
// Two tiles share a row.
// CHECK: exec.kernel @halves
// CHECK-SAME: ranges = [#exec.tile_range<0 : 0 + 16 * tile per 2, 16>]
exec.kernel @halves(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {tiles = 8 : i64, ranges = [#exec.tile_range<0 : 0 + 16 * tile per 2, 16>]} {
  exec.yield %x : tensor<4x4xf32>
}
// CHECK: exec.program @two inputs("x": tensor<4x4xf32>) outputs("y": tensor<4x4xf32>) arena 64, 128
exec.program @two inputs("x": tensor<4x4xf32>) outputs("y": tensor<4x4xf32>) arena 64, 128 {
  %x = exec.buffer input[0] : memref<4x4xf32>
  %t = exec.buffer arena at 0 : memref<4x4xf32>
  // CHECK: exec.buffer arena on @gpu1 at 64 named "there" : memref<4x4xf32>
  %u = exec.buffer arena on @gpu1 at 64 named "there" : memref<4x4xf32>
  %y = exec.buffer output[0] : memref<4x4xf32>
  exec.lane on @cpu0 {
    // CHECK: exec.dispatch @rows(%{{.*}}, %{{.*}}) tiles 0 to 2 named "upper" overwritable [#exec.overwrite<0 by 1>] : memref<4x4xf32>, memref<4x4xf32>
    exec.dispatch @rows(%x, %t) tiles 0 to 2 named "upper" overwritable [#exec.overwrite<0 by 1>] : memref<4x4xf32>, memref<4x4xf32>
    exec.copy %t to %u : memref<4x4xf32> to memref<4x4xf32>
    exec.record 0
  }
  exec.lane on @gpu1 {
    exec.wait 0
    exec.copy %u to %y : memref<4x4xf32> to memref<4x4xf32>
  }
}
// CHECK: exec.program @ranks inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, samples_of_ranks = 32 : i64}
exec.program @ranks inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, samples_of_ranks = 32 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  exec.lane on @cpu0 {
    // CHECK: exec.collective all_reduce sum(%{{.*}}) by "ring" named "w" : memref<4xf32>
    exec.collective all_reduce sum (%y) by "ring" named "w" : memref<4xf32>
  }
}
// CHECK: exec.program @collectives
exec.program @collectives inputs("x": tensor<3x2xf32>) outputs("y": tensor<4xf32>, "z": tensor<2x2xf32>) attributes {rank = 0 : i64, ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<3x2xf32>
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<2x2xf32>
  %t = exec.buffer arena : memref<4xf32>
  %u = exec.buffer arena : memref<3x2xf32>
  exec.lane on @cpu0 {
    // CHECK: exec.collective part(%{{.*}}) to(%{{.*}}) units [2] : memref<3x2xf32> to memref<2x2xf32>
    exec.collective part (%x) to (%z) units [2] : memref<3x2xf32> to memref<2x2xf32>
    // CHECK: exec.collective all_gather(%{{.*}}) to(%{{.*}}) units [2] by "split" named "w" : memref<2x2xf32> to memref<3x2xf32>
    exec.collective all_gather (%z) to (%u) units [2] by "split" named "w" : memref<2x2xf32> to memref<3x2xf32>
    // CHECK: exec.collective reduce_scatter mean(%{{.*}}) to(%{{.*}}) units [2] : memref<3x2xf32> to memref<2x2xf32>
    exec.collective reduce_scatter mean (%u) to (%z) units [2] : memref<3x2xf32> to memref<2x2xf32>
    // CHECK: exec.collective all_to_all(%{{.*}}) to(%{{.*}}) : memref<4xf32> to memref<4xf32>
    exec.collective all_to_all (%y) to (%t) : memref<4xf32> to memref<4xf32>
    // CHECK: exec.collective broadcast(%{{.*}}, %{{.*}}) root 1 : memref<4xf32>, memref<2x2xf32>
    exec.collective broadcast (%t, %z) root 1 : memref<4xf32>, memref<2x2xf32>
    // CHECK: exec.collective reduce product(%{{.*}}) root 0 : memref<4xf32>
    exec.collective reduce product (%t) root 0 : memref<4xf32>
    // CHECK: exec.collective barrier()
    exec.collective barrier ()
  }
}
// CHECK: exec.program @mesh inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>) attributes {input_pieces = [array<i64: 8, 4>], mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>, rank = 3 : i64, ranks = 4 : i64}
exec.program @mesh inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>) attributes {rank = 3 : i64, ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>, input_pieces = [array<i64: 8, 4>]} {
  %y = exec.buffer output[0] : memref<4xf32>
  exec.lane on @cpu0 {
    // CHECK: exec.collective broadcast(%{{.*}}) root 1 over ["model"] by "tree" named "w" : memref<4xf32>
    exec.collective broadcast (%y) root 1 over ["model"] by "tree" named "w" : memref<4xf32>
  }
}
