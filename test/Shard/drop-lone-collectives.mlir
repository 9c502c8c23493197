// Collectives of one rank are nothing, those of an axis of one too; others stay.
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-drop-lone-collectives))" | FileCheck %s
// RUN: %sprig compile %s -o %t.sprig -q
// RUN: %sprig run %t.sprig --random-inputs 1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: 4x2xf32

dist.mesh @mesh ["data", "model"] [1, 1]

// CHECK-LABEL: @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32>, %[[Y:.*]]: tensor<3xf32>)
// CHECK-NEXT: return %[[X]], %[[Y]], %[[X]], %[[X]], %[[X]]
func.func @main(%x: tensor<4x2xf32>, %y: tensor<3xf32>) -> (tensor<4x2xf32>, tensor<3xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %0:2 = dist.all_reduce sum %x, %y on @mesh ["data"] : tensor<4x2xf32>, tensor<3xf32>
  %1 = dist.reduce_scatter mean %0#0 on @mesh ["data", "model"] : tensor<4x2xf32> -> tensor<4x2xf32>
  %2 = dist.all_gather %1 on @mesh ["model"] : tensor<4x2xf32> -> tensor<4x2xf32>
  dist.barrier on @mesh ["data"]
  %3 = dist.part %2 on @mesh ["data"] : tensor<4x2xf32> -> tensor<4x2xf32>
  %4 = dist.all_to_all %3 on @mesh ["data"] : tensor<4x2xf32> -> tensor<4x2xf32>
  %5 = dist.broadcast %4 root 0 on @mesh ["data"] : tensor<4x2xf32>
  %6 = dist.reduce max %5 root 0 on @mesh ["data"] : tensor<4x2xf32>
  %7 = dist.gather %6 root 0 on @mesh ["data"] : tensor<4x2xf32> -> tensor<4x2xf32>
  %8 = dist.scatter %7 root 0 on @mesh ["data"] : tensor<4x2xf32> -> tensor<4x2xf32>
  return %1, %0#1, %2, %5, %8 : tensor<4x2xf32>, tensor<3xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
