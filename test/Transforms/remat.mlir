// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,cse,func.func(sprig-remat{bytes=1200}))' --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,cse,func.func(sprig-remat{bytes=1200}))' --split-input-file --remarks-filter=memory --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,cse,func.func(sprig-remat))' --split-input-file | FileCheck %s --check-prefix=ALL

// Four sines of 512 bytes each; two may stay. The others are computed again where the backward pass comes to them.
// REMARK: 'chain' keeps 1028 bytes for its backward pass, of 2052: 2 values are computed again by 2 operations
// CHECK-LABEL: @chain
// CHECK-NOT: nn.after
// CHECK: nn.reduce sum
// CHECK-NOT: nn.differentiated
// CHECK: %[[HELD:.*]] = nn.after
// CHECK: %[[S:.*]] = nn.sin %[[HELD]]
// CHECK: nn.cos
// ALL-LABEL: @chain
// ALL-NOT: nn.after
// ALL-NOT: nn.differentiated
// ALL: return
func.func @chain(%x: tensor<128xf32>) -> (tensor<f32>, tensor<128xf32>) {
  %0 = nn.sin %x : tensor<128xf32>
  %1 = nn.sin %0 : tensor<128xf32>
  %2 = nn.sin %1 : tensor<128xf32>
  %3 = nn.sin %2 : tensor<128xf32>
  %4 = nn.sin %3 : tensor<128xf32>
  %5 = nn.reduce sum %4 axes = [0] : tensor<128xf32>
  %r = nn.gradient %5 wrt %x : (tensor<f32>, tensor<128xf32>) -> tensor<128xf32>
  return %5, %r : tensor<f32>, tensor<128xf32>
}

// -----

// What is marked is computed again without a limit, too, but for the sum: it is much smaller than what it is made of.
// ALL-LABEL: @marked
// ALL: %[[FIRST:.*]] = nn.sin %arg0
// ALL: nn.reduce sum
// ALL: %[[HELD:.*]] = nn.after %[[FIRST]]
// ALL-NEXT: %[[AGAIN:.*]] = nn.sin %[[HELD]]
// ALL-NEXT: nn.cos %[[AGAIN]]
// ALL-NOT: nn.after
// ALL: return
func.func @marked(%x: tensor<128xf32>) -> (tensor<f32>, tensor<128xf32>) {
  %0 = nn.sin %x : tensor<128xf32>
  %1 = nn.sin %0 : tensor<128xf32> loc(fused<{nn.recompute}>["again"])
  %2 = nn.sin %1 : tensor<128xf32>
  %3 = nn.reduce sum %2 axes = [0] : tensor<128xf32> loc(fused<{nn.recompute}>["again"])
  %4 = nn.mul %3, %3 : tensor<f32>, tensor<f32>
  %r = nn.gradient %4 wrt %x : (tensor<f32>, tensor<128xf32>) -> tensor<128xf32>
  return %4, %r : tensor<f32>, tensor<128xf32>
}

// -----

// What costs the fewest operations a byte goes first: an activation from the product that is kept, not a product.
// CHECK-LABEL: @cheap
// CHECK: %[[P:.*]] = nn.matmul %arg0, %arg1
// CHECK: nn.reduce sum
// CHECK: %[[HELD:.*]] = nn.after %[[P]]
// CHECK-NEXT: nn.cos %[[HELD]]
// CHECK-NOT: nn.after
// CHECK: return
func.func @cheap(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %0 = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %2 = nn.cos %0 : tensor<8x16xf32>
  %3 = nn.matmul %2, %v : tensor<8x16xf32>, tensor<16x16xf32>
  %4 = nn.sin %3 : tensor<8x16xf32>
  %5 = nn.reduce sum %4 axes = [0, 1] : tensor<8x16xf32>
  %r:2 = nn.gradient %5 wrt %w, %v : (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
  return %5, %r#0, %r#1 : tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Nothing to do where it fits, and no border is left behind.
// CHECK-LABEL: @fits
// CHECK-NOT: nn.after
// CHECK-NOT: nn.differentiated
// CHECK: return
func.func @fits(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = nn.sin %x : tensor<8xf32>
  %1 = nn.sin %0 : tensor<8xf32>
  %2 = nn.reduce sum %1 axes = [0] : tensor<8xf32>
  %r = nn.gradient %2 wrt %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  return %2, %r : tensor<f32>, tensor<8xf32>
}

// -----

// A mask is smaller than what it is made of: it comes to the forward pass, and the values themselves are not kept.
// REMARK: 'mask' keeps {{1[0-9][0-9]}} bytes for its backward pass
// CHECK-LABEL: @mask
// CHECK: %[[R:.*]] = nn.relu
// CHECK: nn.compare gt %[[R]]
// CHECK: nn.reduce sum
// CHECK: nn.select
func.func @mask(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %0 = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %1 = nn.relu %0 : tensor<8x16xf32>
  %2 = nn.reduce sum %1 axes = [0, 1] : tensor<8x16xf32>
  %r = nn.gradient %2 wrt %w : (tensor<f32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2, %r : tensor<f32>, tensor<16x16xf32>
}

// -----

// What ranks do together they do once, and what is computed again behind it waits for none of them: for the last
// thing that this rank has computed alone.
// CHECK-LABEL: @together
// CHECK: %[[SUM:.*]] = dist.all_reduce sum
// CHECK: %[[BACK:.*]] = nn.mul %[[SUM]]
// CHECK: dist.all_reduce sum %[[BACK]]
// CHECK: %[[HELD:.*]] = nn.after %{{.*}}, %[[BACK]]
// CHECK-NEXT: nn.sin %[[HELD]]
// CHECK-NOT: dist.all_reduce
// CHECK: return
dist.mesh @mesh ["data"] [2]
func.func @together(%x: tensor<8x16xf32>) -> (tensor<f32>, tensor<8x16xf32>, tensor<8x8xf32>) {
  %0 = nn.sin %x : tensor<8x16xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<8x16xf32>
  %2 = nn.sin %1 : tensor<8x16xf32>
  %3 = nn.sin %2 : tensor<8x16xf32>
  %4 = nn.reduce sum %3 axes = [0, 1] {nn.differentiated} : tensor<8x16xf32>
  %5 = nn.mul %1, %4 : tensor<8x16xf32>, tensor<f32>
  %6 = dist.all_reduce sum %5 on @mesh ["data"] : tensor<8x16xf32>
  %7 = nn.matmul %2, %3 {transpose_rhs} : tensor<8x16xf32>, tensor<8x16xf32>
  return %4, %6, %7 : tensor<f32>, tensor<8x16xf32>, tensor<8x8xf32>
}
