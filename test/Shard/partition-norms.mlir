// Batch norms in training, with their gradients, on ranks that share the samples: of all samples, and in groups.
// RUN: %sprig-opt %s --sprig-differentiate --canonicalize --cse --sprig-propagate-shardings --cse --sprig-partition=rank=1 --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

dist.mesh @mesh ["data"] [2]

// Two sums forward, which the running statistics share, and two backward, which are also the gradients by scale and
// shift. The ranks add up sums as they are; the names are those of the norm.
// CHECK-LABEL: func.func @all
// CHECK: %[[S:.*]] = nn.reduce sum %{{.*}} axes = [0, 2] : tensor<1x4x3xf32>
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum %[[S]] on @mesh ["data"] : tensor<4xf32> loc("bn1.mean")
// CHECK-NEXT: nn.div %[[A]]
// CHECK-NOT: dist.all_reduce
// CHECK: %[[Q:.*]] = nn.reduce sum %{{.*}} axes = [0, 2] : tensor<1x4x3xf32>
// CHECK-NEXT: %[[V:.*]] = dist.all_reduce sum %[[Q]] on @mesh ["data"] : tensor<4xf32> loc("bn1.variance")
// CHECK-NOT: dist.all_reduce
// CHECK: dist.all_reduce {{.*}} : tensor<4xf32> loc("bn1.variance")
// CHECK-NOT: dist.all_reduce
// CHECK: dist.all_reduce {{.*}} : tensor<4xf32> loc("bn1.mean")
// CHECK-NOT: dist.
// CHECK: return
func.func @all(%x: tensor<3x4x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], []]>}, %s: tensor<4xf32>,
               %t: tensor<4xf32>, %g: tensor<3x4x3xf32>, %running: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>) {
  %y, %m, %v = nn.batch_norm_train %x, %s, %t {epsilon = 1.0e-3 : f64} : tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32> loc("bn1")
  %c = nn.constant dense<0.25> : tensor<f32>
  %0 = nn.mul %m, %c : tensor<4xf32>, tensor<f32>
  %1 = nn.add %running, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = nn.mul %v, %c : tensor<4xf32>, tensor<f32>
  %3 = nn.add %running, %2 : tensor<4xf32>, tensor<4xf32>
  %gx, %gs, %gt = nn.gradient %y seed %g wrt %x, %s, %t : (tensor<3x4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return %1, %3, %gx, %gs, %gt : tensor<4xf32>, tensor<4xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// Half types are computed again in f32 for the gradient: of the same sums.
// CHECK-LABEL: func.func @half
// CHECK-COUNT-4: dist.all_reduce {{.*}} : tensor<4xf32>
// CHECK-NOT: dist.
// CHECK: return
func.func @half(%x: tensor<3x4xf16> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %s: tensor<4xf16>, %g: tensor<3x4xf16>)
    -> (tensor<3x4xf16>, tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>) {
  %y, %m, %v = nn.batch_norm_train %x, %s, %s {epsilon = 1.0e-3 : f64} : tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>
  %gx, %gs = nn.gradient %y seed %g wrt %x, %s : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<4xf16>) -> (tensor<3x4xf16>, tensor<4xf16>)
  return %y, %gx, %gs, %m : tensor<3x4xf16>, tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>
}

// A shard's statistics count by its samples: one third of them here. Nothing is sent forward but these.
// CHECK-LABEL: func.func @groups
// CHECK: %[[Y:.*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm_train %{{[^{]*}} {epsilon = 1.000000e-03 : f64, unbiased} : tensor<1x4x3xf32>
// CHECK: %[[W:.*]] = nn.constant dense<0.333333343> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = nn.mul %[[M]], %[[W]]
// CHECK-NEXT: dist.all_reduce sum %[[P]] on @mesh ["data"] : tensor<4xf32> loc("bn2.mean")
// CHECK: dist.all_reduce sum {{.*}} loc("bn2.variance")
// Its gradient is by these alone; those of scale and shift are added up.
// CHECK-NOT: dist.
// CHECK: nn.reduce sum %{{.*}} axes = [0, 2] {nn.sum = "mean"} : tensor<1x4x3xf32>
// CHECK-COUNT-2: dist.all_reduce sum {{.*}} : tensor<4xf32>
// CHECK-NOT: dist.
// CHECK: return
func.func @groups(%x: tensor<3x4x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], []]>}, %s: tensor<4xf32>, %t: tensor<4xf32>,
                  %g: tensor<3x4x3xf32>, %running: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>) {
  %y, %m, %v = nn.batch_norm_train %x, %s, %t {epsilon = 1.0e-3 : f64, unbiased, groups = ["data"]} : tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32> loc("bn2")
  %c = nn.constant dense<0.25> : tensor<f32>
  %0 = nn.mul %m, %c : tensor<4xf32>, tensor<f32>
  %1 = nn.add %running, %0 : tensor<4xf32>, tensor<4xf32>
  %gx, %gs, %gt = nn.gradient %y seed %g wrt %x, %s, %t : (tensor<3x4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return %1, %v, %gx, %gs, %gt : tensor<4xf32>, tensor<4xf32>, tensor<3x4x3xf32>, tensor<4xf32>, tensor<4xf32>
}
