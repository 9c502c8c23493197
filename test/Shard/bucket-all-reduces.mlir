// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-bucket-all-reduces{bytes=64}))" | FileCheck %s

dist.mesh @mesh ["data", "model"] [2, 2]

// Up to 64 bytes together, at the place of the last; what is over begins another.
// CHECK-LABEL: @bytes
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[B]]
// CHECK-NEXT: %[[S:.*]]:3 = dist.all_reduce sum %[[A]], %[[A]], %[[B]] on @mesh ["data"] : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum %[[E]] on @mesh ["data"] : tensor<8xf32>
// CHECK-NEXT: return %[[S]]#0, %[[S]]#1, %[[S]]#2, %[[T]]
func.func @bytes(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = dist.all_reduce sum %a on @mesh ["data"] : tensor<4xf32>
  %e = nn.exp %b : tensor<8xf32>
  %1 = dist.all_reduce sum %a on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_reduce sum %b on @mesh ["data"] : tensor<8xf32>
  %3 = dist.all_reduce sum %e on @mesh ["data"] : tensor<8xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
}

// Not over what reads a result.
// CHECK-LABEL: @read
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[S]]
// CHECK-NEXT: dist.all_reduce sum %[[E]]
func.func @read(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dist.all_reduce sum %a on @mesh ["data"] : tensor<4xf32>
  %e = nn.exp %0 : tensor<4xf32>
  %1 = dist.all_reduce sum %e on @mesh ["data"] : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Another reduction, group, algorithm, type or collective does not join, and nothing passes it: all ranks meet in one
// order.
// CHECK-LABEL: @kinds
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["data"] : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce max %{{[a-z0-9]*}} on @mesh ["data"] : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["data"] by "ring" : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] : tensor<i64>
// CHECK-NEXT: dist.barrier
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] : tensor<i64>
func.func @kinds(%a: tensor<4xf32>, %n: tensor<i64>) {
  %0 = dist.all_reduce sum %a on @mesh ["data"] : tensor<4xf32>
  %1 = dist.all_reduce max %a on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_reduce sum %a on @mesh ["data"] by "ring" : tensor<4xf32>
  %3 = dist.all_reduce sum %a on @mesh ["model"] : tensor<4xf32>
  %4 = dist.all_reduce sum %n on @mesh ["model"] : tensor<i64>
  dist.barrier on @mesh ["data"]
  %5 = dist.all_reduce sum %n on @mesh ["model"] : tensor<i64>
  return
}
