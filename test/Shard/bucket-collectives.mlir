// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-bucket-collectives{bytes=64}))" | FileCheck %s

dist.mesh @mesh ["data", "model"] [2, 2]

// Up to 64 bytes together, at the place of the last; what is over begins another. What is late says so from then on.
// CHECK-LABEL: @bytes
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[B]]
// CHECK-NEXT: %[[S:.*]]:3 = dist.all_reduce sum %[[A]], %[[A]], %[[B]] on @mesh ["data"] {dist.late} : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum %[[E]] on @mesh ["data"] {dist.late} : tensor<8xf32>
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
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["data"] {dist.late} : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce max %{{[a-z0-9]*}} on @mesh ["data"] {dist.late} : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["data"] by "ring" {dist.late} : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] {dist.late} : tensor<4xf32>
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] {dist.late} : tensor<i64>
// CHECK-NEXT: dist.barrier
// CHECK-NEXT: dist.all_reduce sum %{{[a-z0-9]*}} on @mesh ["model"] {dist.late} : tensor<i64>
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

// Gradients leave in the order in which they are there, but let those pass that others wait for, until more gradients are
// made: a late one, which no other collective needs, goes in front of what makes the next late one, with what it needs;
// what reads it comes in the end.
// CHECK-LABEL: @late
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum %[[X]]
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[S]]
// CHECK-NEXT: %[[G:.*]] = nn.sin %[[S]]
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum %[[E]]
// CHECK-NEXT: %[[GS:.*]] = dist.all_reduce sum %[[G]]
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
// CHECK-NEXT: %[[G:.*]]:2 = dist.all_reduce max %{{.*}}, %{{.*}} on @mesh ["data"] {dist.late} : tensor<4xf32>, tensor<4xf32>
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
// CHECK: dist.all_reduce max %{{.*}}, %{{.*}} {dist.late} : tensor<4xf32>, tensor<4xf32>
func.func @marked(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.rank = 0 : i64} {
  %s = dist.all_reduce max %x on @mesh ["data"] {dist.late} : tensor<4xf32>
  %t = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %c = nn.cos %t : tensor<4xf32>
  %g = dist.all_reduce max %c on @mesh ["data"] {dist.late} : tensor<4xf32>
  return %s, %g : tensor<4xf32>, tensor<4xf32>
}

// Parts of sums and gathers join as sums do, by the bytes of their wholes, each kind by itself.
// CHECK-LABEL: @halves
// CHECK-NEXT: %[[P:.*]]:2 = dist.reduce_scatter sum %{{[a-z0-9]*}}, %{{[a-z0-9]*}} on @mesh ["data"] {dist.late} : tensor<4xf32>, tensor<8xf32> -> tensor<2xf32>, tensor<4xf32>
// CHECK-NEXT: dist.reduce_scatter sum %{{[a-z0-9]*}} on
// CHECK-NEXT: %[[W:.*]]:2 = dist.all_gather %{{[a-z0-9]*}}, %{{[a-z0-9]*}} on @mesh ["data"] {dist.late} : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: return %[[P]]#0, %[[P]]#1, %{{.*}}, %[[W]]#0, %[[W]]#1
func.func @halves(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = dist.reduce_scatter sum %a on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  %1 = dist.reduce_scatter sum %b on @mesh ["data"] : tensor<8xf32> -> tensor<4xf32>
  %2 = dist.reduce_scatter sum %b on @mesh ["data"] : tensor<8xf32> -> tensor<4xf32>
  %3 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<8xf32>
  %4 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<8xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
}

// Marked ones may need each other: parts of gradients go behind a sum that somebody waits for, beside what is made then; in
// the end each bucket's updates, behind them what gathers these, then the next one's.
// CHECK-LABEL: @updates
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum
// CHECK-NEXT: %[[P:.*]]:2 = dist.reduce_scatter sum %{{.*}}, %{{.*}} {dist.late} : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[G:.*]] = nn.sin %[[S]]
// CHECK-NEXT: %[[H:.*]] = nn.exp %[[S]]
// CHECK-NEXT: %[[Q:.*]] = dist.reduce_scatter sum %[[G]] {{.*}} {dist.late}
// CHECK-NEXT: %[[UA:.*]] = nn.exp %[[P]]#0
// CHECK-NEXT: %[[UB:.*]] = nn.exp %[[P]]#1
// CHECK-NEXT: %[[W:.*]]:2 = dist.all_gather %[[UA]], %[[UB]] {{.*}} {dist.late}
// CHECK-NEXT: %[[UC:.*]] = nn.exp %[[Q]]
// CHECK-NEXT: %[[V:.*]] = dist.all_gather %[[UC]] {{.*}} {dist.late}
// CHECK-NEXT: %[[R:.*]] = nn.sin %[[W]]#0
// CHECK-NEXT: return %[[R]], %[[W]]#1, %[[V]], %[[H]]
func.func @updates(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {dist.rank = 0 : i64} {
  %pa = dist.reduce_scatter sum %x on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %ua = nn.exp %pa : tensor<4xf32>
  %wa = dist.all_gather %ua on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  %r = nn.sin %wa : tensor<8xf32>
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
  %g = nn.sin %s : tensor<8xf32>
  %pc = dist.reduce_scatter sum %g on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %uc = nn.exp %pc : tensor<4xf32>
  %wc = dist.all_gather %uc on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  %pb = dist.reduce_scatter sum %x on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %ub = nn.exp %pb : tensor<4xf32>
  %wb = dist.all_gather %ub on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  %h = nn.exp %s : tensor<8xf32>
  return %r, %wb, %wc, %h : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A norm of all parts comes behind all of them, and all gathers behind it.
// CHECK-LABEL: @clipped
// CHECK-NEXT: %[[P:.*]] = dist.reduce_scatter
// CHECK-NEXT: %[[Q:.*]] = dist.reduce_scatter
// CHECK-NEXT: nn.add %[[P]], %[[Q]]
// CHECK-NEXT: %[[N:.*]] = dist.all_reduce sum
// CHECK-NEXT: %[[U:.*]] = nn.mul %[[P]], %[[N]]
// CHECK-NEXT: %[[V:.*]] = nn.mul %[[Q]], %[[N]]
// CHECK-NEXT: dist.all_gather %[[U]], %[[V]] on
// CHECK-NEXT: return
func.func @clipped(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %p = dist.reduce_scatter sum %x on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %q = dist.reduce_scatter sum %y on @mesh ["data"] by "split" {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %all = nn.add %p, %q : tensor<4xf32>, tensor<4xf32>
  %n = dist.all_reduce sum %all on @mesh ["data"] {dist.late} : tensor<4xf32>
  %u = nn.mul %p, %n : tensor<4xf32>, tensor<4xf32>
  %w = dist.all_gather %u on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  %v = nn.mul %q, %n : tensor<4xf32>, tensor<4xf32>
  %z = dist.all_gather %v on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  return %w, %z : tensor<8xf32>, tensor<8xf32>
}

// What somebody waits for is not late, whatever is said of it, nor is what needs others in front of a barrier.
// CHECK-LABEL: @waited_for
// CHECK-NEXT: dist.reduce_scatter sum %{{[a-z0-9]*}} on @mesh ["data"] : tensor<8xf32>
// CHECK-NEXT: nn.exp
// CHECK-NEXT: dist.all_gather %{{[a-z0-9]*}} on @mesh ["data"] : tensor<4xf32>
// CHECK-NEXT: dist.barrier
// CHECK-NEXT: dist.reduce_scatter sum %{{[a-z0-9]*}} on @mesh ["data"] : tensor<8xf32>
// CHECK-NEXT: dist.all_to_all
func.func @waited_for(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %p = dist.reduce_scatter sum %x on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %u = nn.exp %p : tensor<4xf32>
  %w = dist.all_gather %u on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<8xf32>
  dist.barrier on @mesh ["data"]
  %q = dist.reduce_scatter sum %x on @mesh ["data"] {dist.late} : tensor<8xf32> -> tensor<4xf32>
  %t = dist.all_to_all %q on @mesh ["data"] : tensor<4xf32> -> tensor<4xf32>
  return %w, %t : tensor<8xf32>, tensor<4xf32>
}

// Late ones may say their order, whatever that of the function is; who says nothing keeps its place.
// CHECK-LABEL: @said
// CHECK: %[[A:.*]] = nn.exp
// CHECK-NEXT: %[[B:.*]] = nn.sin
// CHECK-NEXT: dist.all_reduce sum %[[B]] on @mesh ["data"] {dist.late} : tensor<16xf32>
// CHECK-NEXT: dist.all_reduce max %{{.*}} on @mesh ["data"] {dist.late} : tensor<16xf32>
// CHECK-NEXT: dist.all_reduce sum %[[A]] on @mesh ["data"] {dist.late} : tensor<16xf32>
// CHECK-NEXT: return
func.func @said(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %a = nn.exp %x : tensor<16xf32>
  %b = nn.sin %x : tensor<16xf32>
  %0 = dist.all_reduce sum %a on @mesh ["data"] {dist.order = 7} : tensor<16xf32>
  %1 = dist.all_reduce max %x on @mesh ["data"] : tensor<16xf32>
  %2 = dist.all_reduce sum %b on @mesh ["data"] {dist.order = 5} : tensor<16xf32>
  return %0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
