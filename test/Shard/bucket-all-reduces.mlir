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

// Gradients leave in the order in which they are there: a late one, which no other collective needs, goes before the
// next one that others wait for, with what it needs; what reads it comes in the end.
// CHECK-LABEL: @late
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum %[[X]]
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[S]]
// CHECK-NEXT: %[[G:.*]] = nn.sin %[[S]]
// CHECK-NEXT: %[[GS:.*]] = dist.all_reduce sum %[[G]]
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum %[[E]]
// CHECK-NEXT: %[[C:.*]] = nn.cos %[[T]]
// CHECK-NEXT: %[[CS:.*]] = dist.all_reduce max %[[C]]
// CHECK-NEXT: %[[R:.*]] = nn.exp %[[GS]]
// CHECK-NEXT: return %[[R]], %[[CS]]
func.func @late(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %e = nn.exp %s : tensor<4xf32>
  %t = dist.all_reduce sum %e on @mesh ["data"] : tensor<4xf32>
  %c = nn.cos %t : tensor<4xf32>
  %g = nn.sin %s : tensor<4xf32>
  %gs = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %r = nn.exp %gs : tensor<4xf32>
  %cs = dist.all_reduce max %c on @mesh ["data"] : tensor<4xf32>
  return %r, %cs : tensor<4xf32>, tensor<4xf32>
}

// Late ones join over one that others wait for, in front of the next: what the second of them needs is there then.
// CHECK-LABEL: @over
// CHECK: %[[T:.*]] = dist.all_reduce sum %{{.*}} on @mesh ["data"] : tensor<4xf32>
// CHECK-NEXT: nn.cos
// CHECK-NEXT: %[[G:.*]]:2 = dist.all_reduce max %{{.*}}, %{{.*}} on @mesh ["data"] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[G]]#0, %[[G]]#1
func.func @over(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = dist.all_reduce max %x on @mesh ["data"] : tensor<4xf32>
  %t = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %c = nn.cos %t : tensor<4xf32>
  %g = dist.all_reduce max %c on @mesh ["data"] : tensor<4xf32>
  return %s, %g : tensor<4xf32>, tensor<4xf32>
}

// In the program of one rank alone, late is what says so: what its values need may be another matter on other ranks.
// CHECK-LABEL: @one_rank
// CHECK: dist.all_reduce max %{{.*}} : tensor<4xf32>
// CHECK: dist.all_reduce sum %{{.*}} : tensor<4xf32>
// CHECK: nn.cos
// CHECK: dist.all_reduce max %{{.*}} : tensor<4xf32>
func.func @one_rank(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.rank = 0 : i64} {
  %s = dist.all_reduce max %x on @mesh ["data"] : tensor<4xf32>
  %t = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %c = nn.cos %t : tensor<4xf32>
  %g = dist.all_reduce max %c on @mesh ["data"] : tensor<4xf32>
  return %s, %g : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: @marked
// CHECK-NOT: dist.late
// CHECK: dist.all_reduce sum %{{.*}} : tensor<4xf32>
// CHECK: dist.all_reduce max %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @marked(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.rank = 0 : i64} {
  %s = dist.all_reduce max %x on @mesh ["data"] {dist.late} : tensor<4xf32>
  %t = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %c = nn.cos %t : tensor<4xf32>
  %g = dist.all_reduce max %c on @mesh ["data"] {dist.late} : tensor<4xf32>
  return %s, %g : tensor<4xf32>, tensor<4xf32>
}
