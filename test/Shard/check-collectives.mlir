// What ranks do together is written down, and what differs from it is an error.
// RUN: %sprig-opt --sprig-plan-collectives %s --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: %sprig-opt --sprig-plan-collectives --sprig-check-collectives %s --split-input-file | FileCheck %s --check-prefix=SAME

// The bytes are those of all ranks' parts together.
// PLAN: func.func @step
// PLAN-SAME: dist.plan = ["all_reduce sum of 28 bytes on @mesh [\22data\22]",
// PLAN-SAME:              "all_gather of 32 bytes on @mesh [\22data\22]",
// PLAN-SAME:              "broadcast root 1 of 12 bytes on @mesh [\22data\22]",
// PLAN-SAME:              "barrier of 0 bytes on @mesh [\22data\22]"]
// SAME: func.func @step
// SAME-NOT: dist.plan
dist.mesh @mesh ["data"] [2]
func.func @step(%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>, tensor<8xf32>) {
  %sums:2 = dist.all_reduce sum %x, %y on @mesh ["data"] : tensor<4xf32>, tensor<3xf32>
  %all = dist.all_gather %sums#0 on @mesh ["data"] : tensor<4xf32> -> tensor<8xf32>
  %same = dist.broadcast %sums#1 root 1 on @mesh ["data"] : tensor<3xf32>
  dist.barrier on @mesh ["data"]
  return %sums#0, %same, %all : tensor<4xf32>, tensor<3xf32>, tensor<8xf32>
}

// -----

// Who meets nobody has no plan.
// PLAN: func.func @alone(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
