// RUN: %sprig-opt %s --sprig-differentiate --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// The sum of all ranks' outputs is differentiated: a rank's value reaches all of them.
// CHECK-LABEL: @sum
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[S:.*]] = dist.all_reduce sum %[[X]] on @mesh ["data"] by "ring"
// CHECK: %[[E:.*]] = nn.exp %[[S]]
// CHECK: %[[G:.*]] = dist.all_reduce sum %{{.*}} on @mesh ["data"] by "ring"
// CHECK: return %[[G]]
dist.mesh @mesh ["data"] [2]
func.func @sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = dist.all_reduce sum %x on @mesh ["data"] by "ring" : tensor<4xf32>
  %e = nn.exp %s : tensor<4xf32>
  %l = nn.reduce sum %e axes = [0] : tensor<4xf32>
  %g = nn.gradient %l wrt %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @max(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no gradient: it is a max, expected a sum or a mean}}
  %s = dist.all_reduce max %x on @mesh ["data"] : tensor<4xf32>
  %l = nn.reduce sum %s axes = [0] : tensor<4xf32>
  %g = nn.gradient %l wrt %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
