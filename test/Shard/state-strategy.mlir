// Strategies state where values of a step lie, and nothing else: the operations are those of the step.
// RUN: split-file %s %t
// RUN: sprig-opt %t/step.mlir --sprig-state-strategy=strategy=data | FileCheck %t/step.mlir --check-prefixes=CHECK,DATA
// RUN: sprig-opt %t/step.mlir '--sprig-state-strategy=strategy=zero1 weights=3,1' | FileCheck %t/step.mlir --check-prefixes=CHECK,ZERO
// RUN: sprig-opt %t/step.mlir --sprig-state-strategy | FileCheck %t/step.mlir --check-prefix=NONE
// RUN: not sprig-opt %t/step.mlir --sprig-state-strategy=strategy=pipeline 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sprig-opt %t/no-mesh.mlir --sprig-state-strategy=strategy=data 2>&1 | FileCheck %s --check-prefix=NO-MESH
// RUN: not sprig-opt %t/no-axis.mlir --sprig-state-strategy=strategy=data 2>&1 | FileCheck %s --check-prefix=NO-AXIS
// UNKNOWN: error: there is no strategy 'pipeline'; there are data, zero1
// NO-MESH: error: strategy 'data' needs a dist.mesh
// NO-AXIS: error: a strategy over samples needs a mesh with an axis "data"

// RUN: not sprig-opt %t/several.mlir '--sprig-state-strategy=strategy=data mesh=data=3' 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not sprig-opt %t/lonely.mlir '--sprig-state-strategy=strategy=data mesh=data=2 weights=2,1' 2>&1 | FileCheck %s --check-prefix=LONELY
// RUN: not sprig-opt %t/step.mlir '--sprig-state-strategy=strategy=data weights=3,1,1' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not sprig-opt %t/step.mlir '--sprig-state-strategy=strategy=data weights=3,0' 2>&1 | FileCheck %s --check-prefix=NOTHING
// WEIGHTS: error: 3 weights of shares for 2 ranks along "data"
// NOTHING: error: a rank's share has weight 0, expected 1 or more
// SEVERAL: error: several steps in one call, and a batch of 2 samples leaves ranks without any
// LONELY: error: {{.*}}batch norm 'bn': has one value for each channel of 1 sample, which have no variance; `drop_last` leaves out a last batch that is smaller (rank 1 has 1 of 3 samples)

//--- several.mlir
func.func @step(%x: tensor<6x2xf32>) attributes {nn.passes = array<i64: 4, 2>, nn.repeat = 2 : i64} {
  return
}

//--- lonely.mlir
func.func @step(%x: tensor<3x2xf32>, %c: tensor<2xf32>) attributes {nn.passes = array<i64: 3>} {
  %y, %m, %v = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, groups = ["data"], unbiased} : tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32> loc("bn")
  return
}

//--- no-mesh.mlir
func.func @none() {
  return
}

//--- no-axis.mlir
dist.mesh @mesh ["model"] [2]
func.func @none() {
  return
}

//--- step.mlir
// NONE-NOT: nn.passes
// NONE-NOT: nn.gradients
// NONE-NOT: nn.optimizer_state
// NONE-NOT: dist.sh
dist.mesh @mesh ["data"] [2]
// Of 200 elements ranks have pieces, of 20 each has all.
// DATA: nn.param @w {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], []]>}
// DATA: nn.param @m {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], []]>}
// ZERO: nn.param @w {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], []]>}
// ZERO: nn.param @m {dist.sharding = #dist.sharding<@mesh, flat ["data"]>}
// CHECK: nn.param @n {dist.sharding = #dist.sharding<@mesh, {{\[\[}}]]>}
nn.param @w = dense<0.5> : tensor<20x10xf32>
nn.param @b = dense<0.5> : tensor<20xf32>
nn.param @m {nn.optimizer_state} = dense<0.0> : tensor<20x10xf32>
nn.param @n {nn.optimizer_state} = dense<0.0> : tensor<20xf32>

// CHECK-LABEL: func.func @step
// DATA-SAME: tensor<6x10xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data" in 4,2], []]>}
// ZERO-SAME: tensor<6x10xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data" by 3,1 in 4,2], []]>}
// CHECK-SAME: nn.passes = array<i64: 4, 2>
func.func @step(%x: tensor<6x10xf32>) -> (tensor<f32> {nn.name = "loss"}, tensor<f32> {nn.name = "grad_norm"}) attributes {nn.passes = array<i64: 4, 2>} {
  %w = nn.get_param @w : tensor<20x10xf32>
  %b = nn.get_param @b : tensor<20xf32>
  %m = nn.get_param @m : tensor<20x10xf32>
  %0 = nn.linear %x, %w, %b : tensor<6x10xf32>, tensor<20x10xf32>, tensor<20xf32>
  %loss = nn.reduce sum %0 axes = [0, 1] : tensor<6x20xf32>
  // The bias is read last, so its gradient comes first; one place has the name of the parameter, one of the norm.
  // CHECK: %[[G:.*]]:2 = nn.gradient
  // CHECK-NOT: nn.gradients
  // DATA: %[[W:.*]] = dist.shard %[[G]]#0 : tensor<20x10xf32> to #dist.sharding<@mesh, {{\[\[}}], []]>
  // ZERO: %[[W:.*]] = dist.shard %[[G]]#0 : tensor<20x10xf32> to #dist.sharding<@mesh, flat ["data"]>
  // CHECK: %[[B:.*]] = dist.shard %[[G]]#1 : tensor<20xf32> to #dist.sharding<@mesh, {{\[\[}}]]>
  %g:2 = nn.gradient %loss wrt %w, %b {nn.gradients = ["w", "b"]} : (tensor<f32>, tensor<20x10xf32>, tensor<20xf32>) -> (tensor<20x10xf32>, tensor<20xf32>)
  // CHECK: nn.mul %[[W]], %[[W]]
  %square = nn.mul %g#0, %g#0 : tensor<20x10xf32>, tensor<20x10xf32>
  // CHECK: %[[SUM:.*]] = nn.reduce
  // CHECK-NEXT: %[[TOTAL:.*]] = dist.shard %[[SUM]]
  // CHECK-NEXT: nn.sqrt %[[TOTAL]]
  %sum = nn.reduce sum %square axes = [0, 1] {nn.total = "grad_norm"} : tensor<20x10xf32>
  %norm = nn.sqrt %sum : tensor<f32>
  %m1 = nn.add %m, %g#0 : tensor<20x10xf32>, tensor<20x10xf32>
  // CHECK: %[[NEW:.*]] = nn.sub
  // ZERO-NEXT: %[[WHOLE:.*]] = dist.shard %[[NEW]] : tensor<20x10xf32> to #dist.sharding<@mesh, {{\[\[}}], []]>
  // ZERO: nn.set_param @w, %[[WHOLE]]
  // DATA: nn.set_param @w, %[[NEW]]
  %w1 = nn.sub %w, %m1 : tensor<20x10xf32>, tensor<20x10xf32>
  %b1 = nn.sub %b, %g#1 : tensor<20xf32>, tensor<20xf32>
  nn.set_param @w, %w1 : tensor<20x10xf32>
  nn.set_param @m, %m1 : tensor<20x10xf32>
  nn.set_param @b, %b1 : tensor<20xf32>
  return %loss, %norm : tensor<f32>, tensor<f32>
}
