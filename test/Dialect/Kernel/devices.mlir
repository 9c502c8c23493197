// RUN: %sprig-opt %s --verify-roundtrip | FileCheck %s

// What `place` writes: devices on the module, their numbers on operations and parameters that are not on the first.
// CHECK: module attributes {kernel.devices = ["cpu:0", "null:1"]}
module attributes {kernel.devices = ["cpu:0", "null:1"]} {
  // CHECK: nn.param @w {kernel.device = 1 : i64}
  nn.param @w {kernel.device = 1 : i64} = dense<1.0> : tensor<4xf32>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: nn.relu %{{.*}} {kernel.device = 1 : i64}
    %0 = nn.relu %x {kernel.device = 1 : i64} : tensor<4xf32>
    // CHECK: nn.tanh %{{.*}} {kernel.device = 0 : i64}
    %1 = nn.tanh %0 {kernel.device = 0 : i64} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
