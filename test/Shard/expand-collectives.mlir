// Collectives as what one rank sends, receives and adds: messages and elements, counted.
// RUN: %sprig-opt %s --sprig-expand-collectives="rank=1" | FileCheck %s
// RUN: %sprig-opt %s --sprig-expand-collectives="rank=1 algorithm=star" | FileCheck %s --check-prefix=STAR
// RUN: %sprig-opt %s --sprig-expand-collectives="rank=5 algorithm=hierarchy per-machine=2" | FileCheck %s --check-prefix=MACHINES

// RUN: %sprig-opt %s --sprig-expand-collectives="rank=5 algorithm=hierarchy per-machine=4" | FileCheck %s --check-prefix=STRIDED
// RUN: %sprig-opt %s --sprig-expand-collectives="rank=1 algorithm=rings" | FileCheck %s
// RUN: not %sprig-opt %s --sprig-expand-collectives="per-machine=0" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expected 1 or more ranks of a machine, found 0

dist.mesh @mesh ["data", "model"] [4, 2]

// Ranks 1, 3, 5, 7 are rank 1's group along the data: in a ring it sends to 3 and takes from 7, a fourth at a time. Of
// the ring's 2 (4 - 1) messages the first half is added up, and piece 1 of them is rank 3's own.
// CHECK-LABEL: func.func @ring
func.func @ring(%x: tensor<32xf32>) -> tensor<32xf32> {
  // CHECK: %[[Y:.*]] = dist.steps sum rank 1 (%{{.*}}) : tensor<32xf32> -> tensor<32xf32> {
  // CHECK-NEXT: dist.send [0, 8) to 3
  // CHECK-NEXT: dist.combine [24, 32) from 7
  // CHECK-NEXT: dist.send [24, 32) to 3
  // CHECK-NEXT: dist.combine [16, 24) from 7
  // CHECK-NEXT: dist.send [16, 24) to 3
  // CHECK-NEXT: dist.combine [8, 16) from 7
  // CHECK-NEXT: dist.finish [8, 16)
  // CHECK-NEXT: dist.send [8, 16) to 3
  // CHECK-NEXT: dist.receive [0, 8) from 7
  // CHECK-NEXT: dist.send [0, 8) to 3
  // CHECK-NEXT: dist.receive [24, 32) from 7
  // CHECK-NEXT: dist.send [24, 32) to 3
  // CHECK-NEXT: dist.receive [16, 24) from 7
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]
  %y = dist.all_reduce sum %x on @mesh ["data"] by "ring" : tensor<32xf32>
  return %y : tensor<32xf32>
}

// Few bytes go by the tree: ceil(log2 8) rounds each way. Rank 1 is a leaf.
// CHECK-LABEL: func.func @tree
// STAR-LABEL: func.func @tree
// MACHINES-LABEL: func.func @tree
func.func @tree(%x: tensor<10xf32>) -> tensor<10xf32> {
  // CHECK: dist.steps mean rank 1
  // CHECK-NEXT: dist.send [0, 10) to 0
  // CHECK-NEXT: dist.receive [0, 10) from 0
  // CHECK-NEXT: }
  // STAR: dist.steps mean rank 1
  // STAR-NEXT: dist.send [0, 10) to 0
  // STAR-NEXT: dist.receive [0, 10) from 0
  // STAR-NEXT: }
  // Four machines of two: once with the neighbour, three times around the machines, and back; uneven pieces of ten.
  // MACHINES: dist.steps mean rank 5
  // MACHINES-NEXT: dist.send [6, 10) to 4
  // MACHINES-NEXT: dist.combine [0, 6) from 4
  // MACHINES-NEXT: dist.send [4, 5) to 7
  // MACHINES-NEXT: dist.combine [2, 4) from 3
  // MACHINES-COUNT-5: dist.send {{.*}} to 7
  // MACHINES: dist.receive {{.*}} from 3
  // MACHINES-NEXT: dist.send [0, {{.*}}) to 4
  // MACHINES-NEXT: dist.receive {{.*}} from 4
  // MACHINES-NEXT: }
  %y = dist.all_reduce mean %x on @mesh ["data", "model"] : tensor<10xf32>
  return %y : tensor<10xf32>
}

// A part's place is the rank's in its group.
// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<8x3xf32>, tensor<4x3xf32>) {
  // CHECK: dist.steps sum rank 1 at 6 (%{{.*}}) : tensor<4x3xf32> -> tensor<2x3xf32> {
  // CHECK-NEXT: dist.send [0, 6) to 0
  // CHECK-NEXT: dist.combine [6, 12) from 0
  // CHECK-NEXT: dist.finish [6, 12)
  // CHECK-NEXT: }
  %0 = dist.reduce_scatter sum %x on @mesh ["model"] : tensor<4x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.steps sum rank 1 at 12 (%{{.*}}) : tensor<4x3xf32> -> tensor<8x3xf32> {
  // CHECK-NEXT: dist.send [12, 24) to 0
  // CHECK-NEXT: dist.receive [0, 12) from 0
  // CHECK-NEXT: }
  %1 = dist.all_gather %x on @mesh ["model"] : tensor<4x3xf32> -> tensor<8x3xf32>
  // CHECK: dist.steps sum rank 1 apart (%{{.*}}) : tensor<4x3xf32> -> tensor<4x3xf32> {
  // CHECK-NEXT: dist.keep [6, 12)
  // CHECK-NEXT: dist.send [0, 6) to 0
  // CHECK-NEXT: dist.receive [0, 6) from 0
  // CHECK-NEXT: }
  %2 = dist.all_to_all %x on @mesh ["model"] : tensor<4x3xf32> -> tensor<4x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<8x3xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @rooted
func.func @rooted(%x: tensor<2xf32>) {
  // Rank 1 is number 0 of its group: it sends to the root's side of the tree last.
  // CHECK: dist.steps sum rank 1 (
  // CHECK-NEXT: dist.receive [0, 2) from 5
  // CHECK-NEXT: dist.send [0, 2) to 3
  // CHECK-NEXT: }
  %0 = dist.broadcast %x root 2 on @mesh ["data"] : tensor<2xf32>
  // CHECK: dist.steps max rank 1 (
  // CHECK-NEXT: dist.combine [0, 2) from 3
  // CHECK-NEXT: dist.send [0, 2) to 5
  // CHECK-NEXT: }
  %1 = dist.reduce max %x root 2 on @mesh ["data"] : tensor<2xf32>
  // CHECK: dist.steps sum rank 1 at 2 (%{{.*}}) : tensor<2xf32> -> tensor<4xf32> {
  // CHECK-NEXT: dist.receive [0, 2) from 0
  // CHECK-NEXT: }
  %2 = dist.gather %x root 1 on @mesh ["model"] : tensor<2xf32> -> tensor<4xf32>
  // CHECK: dist.steps sum rank 1 at 1 (%{{.*}}) : tensor<2xf32> -> tensor<1xf32> {
  // CHECK-NEXT: dist.receive [1, 2) from 0
  // CHECK-NEXT: }
  // CHECK: dist.steps sum rank 1 () {
  // CHECK-NEXT: dist.send [0, 0) to 0
  // CHECK-NEXT: dist.receive [0, 0) from 0
  // CHECK-NEXT: }
  %3 = dist.scatter %x root 0 on @mesh ["model"] : tensor<2xf32> -> tensor<1xf32>
  dist.barrier on @mesh ["model"]
  return
}

// Of the group 1, 3, 5, 7 two are on each machine of four: 5 and 7 here, 1 is 5's partner on the other.
// STRIDED-LABEL: func.func @strided
func.func @strided(%x: tensor<8xf32>) -> tensor<8xf32> {
  // STRIDED: dist.steps sum rank 5
  // STRIDED-NEXT: dist.send [0, 4) to 7
  // STRIDED-NEXT: dist.combine [4, 8) from 7
  // STRIDED-NEXT: dist.send [6, 8) to 1
  // STRIDED-NEXT: dist.combine [4, 6) from 1
  // STRIDED-NEXT: dist.finish [4, 6)
  // STRIDED-NEXT: dist.send [4, 6) to 1
  // STRIDED-NEXT: dist.receive [6, 8) from 1
  // STRIDED-NEXT: dist.send [4, 8) to 7
  // STRIDED-NEXT: dist.receive [0, 4) from 7
  // STRIDED-NEXT: }
  %y = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Rows that the group does not divide are cut as rows: rank 1 of the model's 2 has the second one of 3, all of it.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%x: tensor<1x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<1x5xf32>) {
  // CHECK: dist.steps sum rank 1 at 10 (%{{.*}}) : tensor<1x5xf32> -> tensor<3x5xf32> {
  // CHECK-NEXT: dist.send [10, 15) to 0
  // CHECK-NEXT: dist.receive [0, 10) from 0
  %0 = dist.all_gather %x on @mesh ["model"] : tensor<1x5xf32> -> tensor<3x5xf32>
  // CHECK: dist.steps sum rank 1 at 10 (%{{.*}}) : tensor<3x5xf32> -> tensor<1x5xf32> {
  // CHECK: dist.send [0, 10) to 0
  // CHECK: dist.combine [10, 15) from 0
  %1 = dist.reduce_scatter sum %y on @mesh ["model"] : tensor<3x5xf32> -> tensor<1x5xf32>
  // One from each of two, there and back: of three rows it keeps the last.
  // CHECK: dist.steps sum rank 1 apart (%{{.*}}) : tensor<3x5xf32> -> tensor<2x5xf32> {
  // CHECK-NEXT: dist.keep [5, 10) from 10
  // CHECK-NEXT: dist.send [0, 10) to 0
  // CHECK-NEXT: dist.receive [0, 5) from 0
  // CHECK-NEXT: }
  %2 = dist.all_to_all %y on @mesh ["model"] : tensor<3x5xf32> -> tensor<2x5xf32>
  // CHECK: dist.steps sum rank 1 apart (%{{.*}}) : tensor<2x5xf32> -> tensor<3x5xf32> {
  // CHECK-NEXT: dist.keep [10, 15) from 5
  // CHECK-NEXT: dist.send [0, 5) to 0
  // CHECK-NEXT: dist.receive [0, 10) from 0
  // CHECK-NEXT: }
  %3 = dist.all_to_all %2 on @mesh ["model"] : tensor<2x5xf32> -> tensor<3x5xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<1x5xf32>
}

// Ranks other than the root have zeros.
// CHECK-LABEL: func.func @elsewhere
func.func @elsewhere(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) {
  // CHECK: %[[SUM:.*]] = dist.steps sum rank 1 (
  // CHECK: dist.steps sum rank 1 (
  // CHECK: %[[ZEROS:.*]] = nn.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: %[[ROWS:.*]] = nn.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: return %[[SUM]], %[[ZEROS]], %[[ROWS]]
  %0 = dist.reduce sum %x root 1 on @mesh ["model"] : tensor<2xf32>
  %1 = dist.reduce sum %x root 0 on @mesh ["model"] : tensor<2xf32>
  %2 = dist.gather %x root 0 on @mesh ["model"] : tensor<2xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<4xf32>
}
