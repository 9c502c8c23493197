// Every operation of the dist dialect, written and read again.
// RUN: %sprig-opt %s | %sprig-opt | FileCheck %s
// RUN: %sprig-opt %s --mlir-print-op-generic | %sprig-opt | FileCheck %s

// CHECK: dist.mesh @mesh ["data", "model"] [4, 2]
dist.mesh @mesh ["data", "model"] [4, 2]

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<8x3xf32>, %flags: tensor<4xi1>, %y: tensor<5x3xf32>, %none: tensor<0x3xf32>, %v: tensor<2xf32>) {
  // CHECK: dist.all_reduce mean %{{.*}} on @mesh ["data"] by "ring" : tensor<8x3xf32>
  %0 = dist.all_reduce mean %x on @mesh ["data"] by "ring" : tensor<8x3xf32>
  // CHECK: dist.all_reduce max %{{.*}} on @mesh ["data", "model"] : tensor<4xi1>
  %1 = dist.all_reduce max %flags on @mesh ["data", "model"] : tensor<4xi1>
  // CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  %2 = dist.reduce_scatter sum %x on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  // CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<8x3xf32> -> tensor<32x3xf32>
  %3 = dist.all_gather %x on @mesh ["data"] : tensor<8x3xf32> -> tensor<32x3xf32>
  // CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<5x3xf32> -> tensor<2x3xf32>
  %9 = dist.reduce_scatter sum %y on @mesh ["data"] : tensor<5x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<0x3xf32> -> tensor<2x3xf32>
  %10 = dist.all_gather %none on @mesh ["data"] : tensor<0x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.reduce_scatter mean %{{.*}}, %{{.*}} on @mesh ["model"] by "split" : tensor<8x3xf32>, tensor<2xf32> -> tensor<4x3xf32>, tensor<1xf32>
  %11:2 = dist.reduce_scatter mean %x, %v on @mesh ["model"] by "split" : tensor<8x3xf32>, tensor<2xf32> -> tensor<4x3xf32>, tensor<1xf32>
  // CHECK: dist.all_gather %{{.*}}, %{{.*}} on @mesh ["model"] : tensor<8x3xf32>, tensor<2xf32> -> tensor<16x3xf32>, tensor<4xf32>
  %12:2 = dist.all_gather %x, %v on @mesh ["model"] : tensor<8x3xf32>, tensor<2xf32> -> tensor<16x3xf32>, tensor<4xf32>
  // CHECK: dist.part %{{.*}} on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  %13 = dist.part %x on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<8x3xf32> -> tensor<8x3xf32>
  %4 = dist.all_to_all %x on @mesh ["data"] : tensor<8x3xf32> -> tensor<8x3xf32>
  // CHECK: dist.broadcast %{{.*}} root 3 on @mesh ["data"] by "tree" : tensor<8x3xf32>
  %5 = dist.broadcast %x root 3 on @mesh ["data"] by "tree" : tensor<8x3xf32>
  // CHECK: dist.reduce product %{{.*}} root 1 on @mesh ["model"] : tensor<8x3xf32>
  %6 = dist.reduce product %x root 1 on @mesh ["model"] : tensor<8x3xf32>
  // CHECK: dist.gather %{{.*}} root 0 on @mesh ["model"] : tensor<8x3xf32> -> tensor<16x3xf32>
  %7 = dist.gather %x root 0 on @mesh ["model"] : tensor<8x3xf32> -> tensor<16x3xf32>
  // CHECK: dist.scatter %{{.*}} root 0 on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
  %8 = dist.scatter %x root 0 on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.barrier on @mesh ["data"]
  dist.barrier on @mesh ["data"]
  return
}

// Rank 5 of 8 is the third of four along the data, and of 10 rows it has two.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%x: tensor<10x3xf32>) attributes {dist.rank = 5 : i64} {
  // CHECK: dist.part %{{.*}} on @mesh ["data"] : tensor<10x3xf32> -> tensor<2x3xf32>
  %0 = dist.part %x on @mesh ["data"] : tensor<10x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<2x3xf32> -> tensor<10x3xf32>
  %1 = dist.all_gather %0 on @mesh ["data"] : tensor<2x3xf32> -> tensor<10x3xf32>
  // It gets two from each of the four, and gives them back.
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<10x3xf32> -> tensor<8x3xf32>
  %2 = dist.all_to_all %x on @mesh ["data"] : tensor<10x3xf32> -> tensor<8x3xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<8x3xf32> -> tensor<10x3xf32>
  %3 = dist.all_to_all %2 on @mesh ["data"] : tensor<8x3xf32> -> tensor<10x3xf32>
  return
}

// Of any rank: two or three rows from each.
func.func @unevenOfAny(%x: tensor<10x3xf32>) {
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<10x3xf32> -> tensor<12x3xf32>
  %0 = dist.all_to_all %x on @mesh ["data"] : tensor<10x3xf32> -> tensor<12x3xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<10x3xf32> -> tensor<8x3xf32>
  %1 = dist.all_to_all %x on @mesh ["data"] : tensor<10x3xf32> -> tensor<8x3xf32>
  return
}

// What is kept of a larger operand lies elsewhere in it.
// CHECK-LABEL: func.func @apart
func.func @apart(%x: tensor<3xf32>) -> tensor<2xf32> {
  // CHECK: dist.steps sum rank 1 apart (%{{.*}}) : tensor<3xf32> -> tensor<2xf32> {
  // CHECK-NEXT: dist.keep [1, 2) from 2
  // CHECK-NEXT: dist.send [0, 2) to 0
  // CHECK-NEXT: dist.receive [0, 1) from 0
  %y = dist.steps sum rank 1 apart (%x) : tensor<3xf32> -> tensor<2xf32> {
    dist.keep [1, 2) from 2
    dist.send [0, 2) to 0
    dist.receive [0, 1) from 0
  }
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @steps
func.func @steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = dist.steps sum rank 0 apart (%{{.*}}) : tensor<4xf32> -> tensor<4xf32> {
  // CHECK-NEXT: dist.keep [0, 2)
  // CHECK-NEXT: dist.send [0, 2) to 1
  // CHECK-NEXT: dist.combine [2, 4) from 1 lane 1
  // CHECK-NEXT: dist.finish [2, 4)
  // CHECK-NEXT: dist.receive [0, 2) from 1
  %y = dist.steps sum rank 0 apart (%x) : tensor<4xf32> -> tensor<4xf32> {
    dist.keep [0, 2)
    dist.send [0, 2) to 1
    dist.combine [2, 4) from 1 lane 1
    dist.finish [2, 4)
    dist.receive [0, 2) from 1
  }
  // CHECK: dist.steps sum rank 1 () {
  dist.steps sum rank 1 () {
    dist.send [0, 0) to 0
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @shardings
// CHECK-SAME: %{{.*}}: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"model", "data"], []]>}
// CHECK-SAME: %{{.*}}: tensor<f32> {dist.sharding = #dist.sharding<@mesh, [], partial max ["model"]>}
// CHECK-SAME: -> (tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], []], partial sum ["data", "model"]>})
func.func @shardings(%x: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, [["model", "data"], []]>},
                     %y: tensor<f32> {dist.sharding = #dist.sharding<@mesh, [], partial max ["model"]>})
    -> (tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, [[], []], partial sum ["data", "model"]>}) {
  // CHECK: dist.shard %{{.*}} : tensor<8x3xf32> to #dist.sharding<@mesh, {{\[\[}}"data"], ["model"]]> {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], ["model"]]>]}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], ["model"]]> {dist.shardings = [#dist.sharding<@mesh, [["data"], ["model"]]>]}
  return %0 : tensor<8x3xf32>
}

// CHECK: nn.param @weight {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"]]>} = dense<0.0
nn.param @weight {dist.sharding = #dist.sharding<@mesh, [["data"]]>} = dense<0.0> : tensor<8xf32>

// CHECK: nn.param @momentum {dist.piece = array<i64: 3, 5>} = dense<0.0{{.*}}> : tensor<8xf32>
nn.param @momentum {dist.piece = array<i64: 3, 5>} = dense<0.0> : tensor<8xf32>

// CHECK-LABEL: func.func @cuts
// CHECK-SAME: <@mesh, {{\[\[}}"data" by 3,1,1,1], ["model"]]>
// CHECK-SAME: <@mesh, {{\[\[}}"data" by 1,2,3,4 in 4,3 of 2], []]>
// CHECK-SAME: <@mesh, flat ["model", "data"]>
// CHECK-SAME: <@mesh, flat ["model"], partial sum ["data"]>
func.func @cuts(%x: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data" by 3,1,1,1], ["model"]]>},
                %y: tensor<14x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data" by 1,2,3,4 in 4,3 of 2], []]>},
                %z: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, flat ["model", "data"]>})
    -> (tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, flat ["model"], partial sum ["data"]>}) {
  return %z : tensor<8x3xf32>
}
