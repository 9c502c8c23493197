// A step may gather samples where that is allowed: each rank compares its own with all.
// RUN: %sprig-opt %s --sprig-propagate-shardings '--sprig-partition=rank=1 allow-gather' | FileCheck %s

dist.mesh @mesh ["data"] [4]
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[A:.*]] = dist.all_gather %[[X]] on @mesh ["data"] : tensor<2x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: nn.matmul %[[X]], %[[A]] {transpose_rhs}
func.func @step(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<f32> attributes {nn.passes = array<i64: 8>} {
  %0 = nn.matmul %x, %x {transpose_rhs} : tensor<8x4xf32>, tensor<8x4xf32>
  %1 = nn.reduce sum %0 axes = [0, 1] : tensor<8x8xf32>
  return %1 : tensor<f32>
}
