// The programs of all ranks beside each other, and where what they take and give lies.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-partition-ranks | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-partition-ranks=rank=1 | FileCheck %s --check-prefix=SECOND

// A parameter that is split is one of each rank, in the order of the ranks; the other is shared. Five rows are three and two.
// CHECK: nn.param @w_rank0 = dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK: nn.param @w_rank1 = dense<{{\[\[}}3.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK: nn.param @b = dense<0.000000e+00> : tensor<1xf32>
// CHECK: func.func @main_rank0(%{{.*}}: tensor<5x2xf32> {dist.piece = array<i64: 5, 4, 0, 0>, nn.name = "x"}) -> (tensor<3x1xf32> {dist.piece = array<i64: 5, 1, 0, 0>})
// CHECK-SAME: attributes {dist.mesh = @mesh, dist.rank = 0 : i64, nn.entry = "main"}
// CHECK: nn.get_param @w_rank0 : tensor<2x1xf32>
// CHECK: dist.reduce_scatter sum {{.*}} on @mesh ["model"] : tensor<5x1xf32> -> tensor<3x1xf32>
// CHECK: nn.get_param @b
// CHECK: func.func @main_rank1(%{{.*}}: tensor<5x2xf32> {dist.piece = array<i64: 5, 4, 0, 2>, nn.name = "x"}) -> (tensor<2x1xf32> {dist.piece = array<i64: 5, 1, 3, 0>})
// CHECK-SAME: attributes {dist.mesh = @mesh, dist.rank = 1 : i64, nn.entry = "main"}
// CHECK: nn.get_param @w_rank1 : tensor<2x1xf32>
// CHECK: nn.get_param @b
// CHECK-NOT: func.func @main(
// SECOND: nn.param @w_rank1
// SECOND-NOT: rank0
// SECOND: func.func @main_rank1
// SECOND-NOT: func.func
dist.mesh @mesh ["model"] [2]
nn.param @w {dist.sharding = #dist.sharding<@mesh, [["model"], []]>} = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
nn.param @b {dist.sharding = #dist.sharding<@mesh, [[]]>} = dense<0.0> : tensor<1xf32>
func.func @main(%x: tensor<5x4xf32> {nn.name = "x", dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>})
    -> (tensor<5x1xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>}) {
  %w = nn.get_param @w : tensor<4x1xf32>
  %0 = nn.matmul %x, %w : tensor<5x4xf32>, tensor<4x1xf32>
  %1 = dist.shard %0 : tensor<5x1xf32> to #dist.sharding<@mesh, [["model"], []]>
  %b = nn.get_param @b : tensor<1xf32>
  %2 = nn.add %1, %b : tensor<5x1xf32>, tensor<1xf32>
  return %2 : tensor<5x1xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{has an argument or a result without a sharding, which sprig-propagate-shardings gives them}}
func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{takes or gives a partial value #dist.sharding<@mesh, [[]], partial sum ["data"]>, which cannot be put together}}
func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [[]], partial sum ["data"]>}) {
  return
}
