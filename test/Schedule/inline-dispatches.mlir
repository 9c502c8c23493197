// RUN: %sprig-opt %s --sprig-inline-dispatches | FileCheck %s
// RUN: %sprig-opt %s --sprig-inline-dispatches=max-flops=100 | FileCheck %s --check-prefix=APART
// RUN: %sprig-opt %s --sprig-inline-dispatches=max-repeats=0 | FileCheck %s --check-prefix=REPEATS

exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 60 : i64, bytes = 128 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = nn.relu %a : tensor<16xf32>
    kernel.yield %1 : tensor<16xf32>
  }
  exec.yield %0 : tensor<16xf32>
}
exec.kernel @exp(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tiles = 1 : i64, flops = 60 : i64, bytes = 128 : i64, scratch = 100 : i64} {
  %0 = kernel.dispatch "exp" (%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = nn.exp %a : tensor<4x4xf32>
    kernel.yield %1 : tensor<4x4xf32>
  }
  exec.yield %0 : tensor<4x4xf32>
}
exec.kernel @wide(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 8 : i64, grain = 2 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = nn.relu %a : tensor<16xf32>
    kernel.yield %1 : tensor<16xf32>
  }
  exec.yield %0 : tensor<16xf32>
}

// Buffers become values again, another shape a view; what stays inside has a place in scratch after what the kernels
// need themselves. Two values live at once share nothing, a third takes the first one's place.
// CHECK: exec.kernel @wide
// CHECK-NOT: exec.kernel @relu
// CHECK: exec.kernel @chain_network(%[[X:.*]]: tensor<16xf32>) -> (tensor<4x4xf32>, tensor<16xf32>)
// CHECK-SAME: places = array<i64: 128, 192>
// CHECK-SAME: scratch = 256 : i64, tiles = 1 : i64
// CHECK-NEXT: %[[A:.*]] = kernel.dispatch "relu" {{.*}} = %[[X]] :
// CHECK: %[[V:.*]] = nn.reshape %[[A]] : tensor<16xf32> to tensor<4x4xf32>
// CHECK-NEXT: %[[B:.*]] = kernel.dispatch "exp" {{.*}} = %[[V]] :
// CHECK: %[[C:.*]] = kernel.dispatch "exp" {{.*}} = %[[B]] :
// CHECK: %[[D:.*]] = kernel.dispatch "relu" {{.*}} = %[[A]] :
// CHECK: exec.yield %[[C]], %[[D]]
// CHECK: exec.program @chain
// CHECK: exec.dispatch @chain_network(%{{.*}}, %[[P:.*]], %[[Q:.*]]) named "chain"
// CHECK-NEXT: exec.copy %[[P]] to
// CHECK-NEXT: exec.copy %[[Q]] to
// APART-NOT: _network
// REPEATS-NOT: _network
exec.program @chain inputs("x": tensor<16xf32>) outputs("y": tensor<4x4xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<4x4xf32>
  %c = exec.buffer arena : memref<4x4xf32>
  %d = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<4x4xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @relu(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @exp(%a, %b) : memref<16xf32>, memref<4x4xf32>
    exec.dispatch @exp(%b, %c) : memref<4x4xf32>, memref<4x4xf32>
    exec.copy %c to %y : memref<4x4xf32> to memref<4x4xf32>
    exec.dispatch @relu(%a, %d) : memref<16xf32>, memref<16xf32>
    exec.copy %d to %z : memref<16xf32> to memref<16xf32>
  }
}

// Work for several threads stays commands that can be cut.
// CHECK: exec.program @split
// CHECK: exec.dispatch @wide
// CHECK: exec.dispatch @wide
exec.program @split inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @wide(%x, %t) : memref<16xf32>, memref<16xf32>
    exec.dispatch @wide(%t, %y) : memref<16xf32>, memref<16xf32>
  }
}

// A part of the tiles is not what a body computes.
// CHECK: exec.program @part
// CHECK: exec.dispatch @narrow({{.*}}) tiles 0 to 4
// CHECK: exec.dispatch @relu
exec.kernel @narrow(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 8 : i64, grain = 8 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = nn.relu %a : tensor<16xf32>
    kernel.yield %1 : tensor<16xf32>
  }
  exec.yield %0 : tensor<16xf32>
}
exec.program @part inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @narrow(%x, %t) tiles 0 to 4 : memref<16xf32>, memref<16xf32>
    exec.dispatch @relu(%t, %y) : memref<16xf32>, memref<16xf32>
  }
}
