// Rows that ranks do not share evenly: larger parts come first, and a part's place is its rows'.
// RUN: %sprig-opt %s --sprig-expand-collectives="rank=1" | FileCheck %s

dist.mesh @mesh ["data"] [2]

// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<3x5xf32>, %y: tensor<1x5xf32>) attributes {dist.rank = 1 : i64} {
  // CHECK: dist.steps sum rank 1 at 10 (%{{.*}}) : tensor<3x5xf32> -> tensor<1x5xf32> {
  // CHECK-NEXT: dist.send [0, 10) to 0
  // CHECK-NEXT: dist.combine [10, 15) from 0
  // CHECK-NEXT: dist.finish [10, 15)
  // CHECK-NEXT: }
  // CHECK-NEXT: dist.steps sum rank 1 at 10 (%{{.*}}) : tensor<1x5xf32> -> tensor<3x5xf32> {
  // CHECK-NEXT: dist.send [10, 15) to 0
  // CHECK-NEXT: dist.receive [0, 10) from 0
  // CHECK-NEXT: }
  // Values that go together are as many programs.
  %0 = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<3x5xf32> -> tensor<1x5xf32>
  // CHECK-NEXT: dist.steps sum rank 1 at 10
  %1:2 = dist.all_gather %y, %0 on @mesh ["data"] : tensor<1x5xf32>, tensor<1x5xf32> -> tensor<3x5xf32>, tensor<3x5xf32>
  // CHECK: dist.steps sum rank 1 at 10 (%{{.*}}) : tensor<3x5xf32> -> tensor<1x5xf32> {
  // CHECK-NEXT: }
  %2 = dist.part %1#0 on @mesh ["data"] : tensor<3x5xf32> -> tensor<1x5xf32>
  return
}
