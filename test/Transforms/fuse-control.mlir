// RUN: %sprig-opt %s --canonicalize --sprig-decompose --sprig-unroll-scans --sprig-scans --sprig-layout --sprig-pack --canonicalize --sprig-fuse --split-input-file | FileCheck %s

// Dispatches in regions; the filter, which no step changes, is packed once, in front of the loop.
// CHECK-LABEL: func.func @convolutions(
// CHECK: kernel.dispatch "pack"
// CHECK: kernel.dispatch "while"
// CHECK: nn.while carry (
// CHECK-SAME: with (%[[N:.*]] = %{{.*}} : tensor<i64>, %[[F:.*]] = %{{.*}} : tensor<1x72x32xf32>)
// CHECK: kernel.dispatch "compare"
// CHECK: } do {
// CHECK-NOT: kernel.pack
// CHECK: kernel.dispatch "conv_packed_relu" ({{.*}}= %[[F]] : tensor<1x72x32xf32>)
func.func @convolutions(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x3x3xf32>, %n: tensor<i64>) -> tensor<1x8x6x6xf32> {
  %z = nn.constant dense<0> : tensor<i64>
  %0:2 = nn.while carry (%k = %z : tensor<i64>, %v = %x : tensor<1x8x6x6xf32>) with (%f = %w : tensor<8x8x3x3xf32>, %m = %n : tensor<i64>) {
    %3 = nn.compare lt %k, %m : tensor<i64>, tensor<i64>
    nn.yield %3 : tensor<i1>
  } do {
    %1 = nn.conv %v, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>
    %2 = nn.relu %1 : tensor<1x8x6x6xf32>
    %one = nn.constant dense<1> : tensor<i64>
    %4 = nn.add %k, %one : tensor<i64>, tensor<i64>
    nn.yield %4, %2 : tensor<i64>, tensor<1x8x6x6xf32>
  }
  return %0#1 : tensor<1x8x6x6xf32>
}

// -----

// A branch in a loop is a dispatch in a dispatch; equal constants of both regions come in once.
// CHECK-LABEL: func.func @nested(
// CHECK: %[[C:.*]] = nn.constant dense<[1.0{{.*}}, 2.0{{.*}}]>
// CHECK: kernel.dispatch "while" (
// CHECK: nn.while {{.*}} with (%{{.*}} = %{{.*}} : tensor<i1>, %[[K:.*]] = %{{.*}} : tensor<2xf32>)
// CHECK: kernel.dispatch "cond" ({{.*}}= %[[K]] : tensor<2xf32>)
// CHECK: nn.cond
// CHECK: kernel.dispatch "mul"
// CHECK: kernel.dispatch "add"
func.func @nested(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0 = nn.while max_steps = 3 carry (%v = %x : tensor<2xf32>) with (%q = %p : tensor<i1>) {
    nn.yield %q : tensor<i1>
  } do {
    %1 = nn.cond %q with (%a = %v : tensor<2xf32>) -> tensor<2xf32> {
      %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %2 = nn.mul %a, %c : tensor<2xf32>, tensor<2xf32>
      nn.yield %2 : tensor<2xf32>
    } else {
      %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %2 = nn.add %a, %c : tensor<2xf32>, tensor<2xf32>
      nn.yield %2 : tensor<2xf32>
    }
    nn.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
