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

// Parts of a mean: each is one of two.
// CHECK-LABEL: @reduceScatter
// CHECK: %[[HALF:.*]] = nn.div %{{.*}}, %{{.*}}
// CHECK: %[[ALL:.*]] = dist.all_gather %[[HALF]] on @mesh ["data"] by "split" : tensor<1x2xf32> -> tensor<3x2xf32>
// CHECK: return %[[ALL]]
dist.mesh @mesh ["data"] [2]
func.func @reduceScatter(%x: tensor<3x2xf32>, %g: tensor<1x2xf32>) -> tensor<3x2xf32> attributes {dist.rank = 1 : i64} {
  %y = dist.reduce_scatter mean %x on @mesh ["data"] by "split" : tensor<3x2xf32> -> tensor<1x2xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %d : tensor<3x2xf32>
}

// -----

// What all have of a rank's rows is summed for it.
// CHECK-LABEL: @allGather
// CHECK: %[[PART:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<3x2xf32> -> tensor<1x2xf32>
// CHECK: return %[[PART]]
dist.mesh @mesh ["data"] [2]
func.func @allGather(%x: tensor<1x2xf32>, %g: tensor<3x2xf32>) -> tensor<1x2xf32> attributes {dist.rank = 1 : i64} {
  %y = dist.all_gather %x on @mesh ["data"] : tensor<1x2xf32> -> tensor<3x2xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %d : tensor<1x2xf32>
}

// -----

// The way back.
// CHECK-LABEL: @allToAll
// CHECK: %[[BACK:.*]] = dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<2x2xf32> -> tensor<3x2xf32>
// CHECK: return %[[BACK]]
dist.mesh @mesh ["data"] [2]
func.func @allToAll(%x: tensor<3x2xf32>, %g: tensor<2x2xf32>) -> tensor<3x2xf32> attributes {dist.rank = 1 : i64} {
  %y = dist.all_to_all %x on @mesh ["data"] : tensor<3x2xf32> -> tensor<2x2xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %d : tensor<3x2xf32>
}

// -----

// From the root to all, and their sum to the root.
// CHECK-LABEL: @broadcast
// CHECK: %[[SUM:.*]] = dist.reduce sum %{{.*}} root 1 on @mesh ["data"] by "tree" : tensor<4xf32>
// CHECK: return %[[SUM]]
dist.mesh @mesh ["data"] [2]
func.func @broadcast(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %y = dist.broadcast %x root 1 on @mesh ["data"] by "tree" : tensor<4xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The other way round; of a mean each is one of two.
// CHECK-LABEL: @reduce
// CHECK: %[[HALF:.*]] = nn.div %{{.*}}, %{{.*}}
// CHECK: %[[SENT:.*]] = dist.broadcast %[[HALF]] root 1 on @mesh ["data"] : tensor<4xf32>
// CHECK: return %[[SENT]]
dist.mesh @mesh ["data"] [2]
func.func @reduce(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %y = dist.reduce mean %x root 1 on @mesh ["data"] : tensor<4xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// Rows that a root has got go back to where they are from.
// CHECK-LABEL: @gather
// CHECK: %[[PART:.*]] = dist.scatter %{{.*}} root 1 on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
// CHECK: return %[[PART]]
dist.mesh @mesh ["data"] [2]
func.func @gather(%x: tensor<2xf32>, %g: tensor<4xf32>) -> tensor<2xf32> {
  %y = dist.gather %x root 1 on @mesh ["data"] : tensor<2xf32> -> tensor<4xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

// Rows that a root has handed out come back to it.
// CHECK-LABEL: @scatter
// CHECK: %[[ALL:.*]] = dist.gather %{{.*}} root 1 on @mesh ["data"] : tensor<2xf32> -> tensor<4xf32>
// CHECK: return %[[ALL]]
dist.mesh @mesh ["data"] [2]
func.func @scatter(%x: tensor<4xf32>, %g: tensor<2xf32>) -> tensor<4xf32> {
  %y = dist.scatter %x root 1 on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  %d = nn.gradient %y seed %g wrt %x : (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// Of several that go together those that a gradient is asked of.
// CHECK-LABEL: @together
// CHECK: %[[PART:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
// CHECK: return %[[PART]]
dist.mesh @mesh ["data"] [2]
func.func @together(%x: tensor<2xf32>, %y: tensor<3xf32>, %g: tensor<4xf32>) -> tensor<2xf32> {
  %a:2 = dist.all_gather %y, %x on @mesh ["data"] : tensor<3xf32>, tensor<2xf32> -> tensor<6xf32>, tensor<4xf32>
  %d = nn.gradient %a#1 seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
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

// -----

dist.mesh @mesh ["data"] [2]
func.func @largest(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no gradient: it is a max, expected a sum or a mean}}
  %s = dist.reduce max %x root 0 on @mesh ["data"] : tensor<4xf32>
  %l = nn.reduce sum %s axes = [0] : tensor<4xf32>
  %g = nn.gradient %l wrt %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @product(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no gradient: it is a product, expected a sum or a mean}}
  %s = dist.reduce_scatter product %x on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  %l = nn.reduce sum %s axes = [0] : tensor<2xf32>
  %g = nn.gradient %l wrt %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
