// What ranks add to places of a whole, as gradients of embeddings do, is summed up; and what waits for parts of others.
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=0 | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=3 | FileCheck %s --check-prefixes=CHECK,LAST

dist.mesh @mesh ["data", "model"] [2, 2]

// Each rank adds its own rows; what was there before counts once.
// CHECK-LABEL: func.func @rows
// FIRST-SAME: (%[[INTO:.*]]: tensor<9x4xf32>, %[[I:.*]]: tensor<3x1xi64>, %[[U:.*]]: tensor<3x4xf32>)
// LAST-SAME: (%{{.*}}: tensor<9x4xf32>, %[[I:.*]]: tensor<2x1xi64>, %[[U:.*]]: tensor<2x4xf32>)
// LAST-NEXT: %[[INTO:.*]] = nn.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK-NEXT: %[[OWN:.*]] = nn.scatter_nd add %[[INTO]], %[[I]], %[[U]]
// CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce sum %[[OWN]] on @mesh ["data"] : tensor<9x4xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @rows(%into: tensor<9x4xf32>,
                %i: tensor<5x1xi64> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                %u: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<9x4xf32> {
  %0 = nn.scatter_nd add %into, %i, %u : tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>
  return %0 : tensor<9x4xf32>
}

// The same element by element.
// CHECK-LABEL: func.func @elements
// FIRST-SAME: (%[[INTO:.*]]: tensor<9x4xf32>, %[[I:.*]]: tensor<3x4xi64>, %[[U:.*]]: tensor<3x4xf32>)
// LAST-SAME: (%{{.*}}: tensor<9x4xf32>, %[[I:.*]]: tensor<2x4xi64>, %[[U:.*]]: tensor<2x4xf32>)
// LAST-NEXT: %[[INTO:.*]] = nn.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK-NEXT: %[[OWN:.*]] = nn.scatter_elements add %[[INTO]], %[[I]], %[[U]] axis = 0
// CHECK-NEXT: dist.all_reduce sum %[[OWN]] on @mesh ["data"] : tensor<9x4xf32>
func.func @elements(%into: tensor<9x4xf32>,
                    %i: tensor<5x4xi64> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                    %u: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<9x4xf32> {
  %0 = nn.scatter_elements add %into, %i, %u axis = 0 : tensor<9x4xf32>, tensor<5x4xi64>, tensor<5x4xf32>
  return %0 : tensor<9x4xf32>
}

// Of updates that replace the last one counts, so each rank needs all.
// CHECK-LABEL: func.func @replaced
// CHECK-DAG: %[[I:.*]] = dist.all_gather %{{.*}} on @mesh ["data"] : tensor<{{[23]}}x1xi64> -> tensor<5x1xi64>
// CHECK-DAG: %[[U:.*]] = dist.all_gather %{{.*}} on @mesh ["data"] : tensor<{{[23]}}x4xf32> -> tensor<5x4xf32>
// CHECK: %[[S:.*]] = nn.scatter_nd none %{{.*}}, %[[I]], %[[U]]
// CHECK-NEXT: return %[[S]]
func.func @replaced(%into: tensor<9x4xf32>,
                    %i: tensor<5x1xi64> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                    %u: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<9x4xf32> {
  %0 = nn.scatter_nd none %into, %i, %u : tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>
  return %0 : tensor<9x4xf32>
}

// Columns of what is addressed pass.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[INTO:.*]]: tensor<9x2xf32>, %[[I:.*]]: tensor<5x1xi64>, %[[U:.*]]: tensor<5x2xf32>) -> tensor<9x2xf32> {
// CHECK-NEXT: %[[S:.*]] = nn.scatter_nd none %[[INTO]], %[[I]], %[[U]]
// CHECK-NEXT: return %[[S]]
func.func @columns(%into: tensor<9x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}, %i: tensor<5x1xi64>,
                   %u: tensor<5x4xf32>) -> (tensor<9x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}) {
  %0 = nn.scatter_nd none %into, %i, %u : tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>
  return %0 : tensor<9x4xf32>
}

// Waiting moves nothing, however what is waited for is split.
// CHECK-LABEL: func.func @after
// CHECK-SAME: (%[[X:.*]]: tensor<{{[23]}}x4xf32>, %[[W:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[A:.*]] = nn.after %[[X]], %[[W]], %[[V]]
// CHECK-NEXT: return %[[A]]
func.func @after(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                 %w: tensor<6x8xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}, %v: tensor<3xf32>)
    -> (tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) {
  %0 = nn.after %x, %w, %v : tensor<5x4xf32>, tensor<6x8xf32>, tensor<3xf32>
  return %0 : tensor<5x4xf32>
}
