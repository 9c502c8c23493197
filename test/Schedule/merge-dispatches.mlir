// RUN: %sprig-opt %s --sprig-merge-dispatches | FileCheck %s
// RUN: %sprig-opt %s --sprig-merge-dispatches=max-flops=100 | FileCheck %s --check-prefix=LARGE

exec.device @cpu "cpu"
exec.kernel @small(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 60 : i64, bytes = 128 : i64, scratch = 64 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @wide(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 8 : i64, grain = 2 : i64} {
  exec.yield %x : tensor<16xf32>
}

// Two commands of 120 flops: below the default limit, above 100.
// CHECK: exec.kernel @both_commands(%[[X:.*]]: memref<16xf32>, %[[T:.*]]: memref<16xf32>, %[[Y:.*]]: memref<16xf32>)
// CHECK-SAME: attributes {bytes = 256 : i64, flops = 120 : i64, label = "both_commands", scratch = 64 : i64, tiles = 1 : i64}
// CHECK-NEXT: exec.call @small(%[[X]], %[[T]])
// CHECK-NEXT: exec.call @small(%[[T]], %[[Y]])
// CHECK: exec.program @both
// CHECK: exec.dispatch @both_commands
// CHECK-NOT: exec.dispatch
// LARGE-NOT: exec.call
// CHECK: exec.program @split
exec.program @both inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) arena 64 {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena at 0 : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @small(%x, %t) : memref<16xf32>, memref<16xf32>
    exec.dispatch @small(%t, %y) : memref<16xf32>, memref<16xf32>
  }
}

// Work for several threads stays commands that can be cut.
// CHECK: exec.dispatch @wide
// CHECK: exec.dispatch @small
exec.program @split inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) arena 64 {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena at 0 : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @wide(%x, %t) : memref<16xf32>, memref<16xf32>
    exec.dispatch @small(%t, %y) : memref<16xf32>, memref<16xf32>
  }
}

// A part of the tiles is not what a call runs.
// CHECK: exec.program @part
// CHECK: exec.dispatch @narrow({{.*}}) tiles 0 to 1
// CHECK: exec.dispatch @narrow({{.*}}) tiles 1 to 2
exec.kernel @narrow(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 2 : i64, grain = 2 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.program @part inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) arena 0 {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @narrow(%x, %y) tiles 0 to 1 : memref<16xf32>, memref<16xf32>
    exec.dispatch @narrow(%x, %y) tiles 1 to 2 : memref<16xf32>, memref<16xf32>
  }
}
