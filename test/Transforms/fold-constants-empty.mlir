// What has no elements is a constant, whatever it is made of: of a step, a rank without samples has what others send.
// RUN: sprig-opt %s --sprig-fold-constants=empty --split-input-file | FileCheck %s
// RUN: sprig-opt %s --sprig-fold-constants="empty exact" --split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: sprig-opt %s --sprig-fold-constants --split-input-file | FileCheck %s --check-prefix=KEPT

// Sums of nothing are zeros of any size, and what comes of them without anything else.
// CHECK-LABEL: @step
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[GRADIENT:.*]] = nn.constant dense<0.000000e+00> : tensor<600x500xf32>
// CHECK-NEXT: return %[[GRADIENT]], %[[ZERO]]
// EXACT-LABEL: @step
// EXACT-NEXT: nn.constant
// EXACT-NEXT: nn.constant dense<0.000000e+00> : tensor<600x500xf32>
// EXACT-NEXT: return
// KEPT-LABEL: @step
// KEPT: nn.matmul
// KEPT: nn.relu
// KEPT: nn.matmul
func.func @step(%x: tensor<0x500xf32>, %w: tensor<600x500xf32>) -> (tensor<600x500xf32>, tensor<f32>) {
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<0x500xf32>, tensor<600x500xf32>
  %1 = nn.relu %0 : tensor<0x600xf32>
  %n = nn.constant dense<8.0> : tensor<f32>
  %2 = nn.reduce sum %1 axes = [0, 1] : tensor<0x600xf32>
  %3 = nn.div %2, %n : tensor<f32>, tensor<f32>
  %4 = nn.matmul %1, %x {transpose_lhs} : tensor<0x600xf32>, tensor<0x500xf32>
  return %4, %3 : tensor<600x500xf32>, tensor<f32>
}

// -----

// Convolutions and pools of no images, and the gradient of a filter.
// CHECK-LABEL: @images
// CHECK-NOT: nn.conv
// CHECK-NOT: nn.pool
// CHECK: nn.constant dense<0.000000e+00> : tensor<4x2x3x3xf32>
// CHECK-NOT: nn.conv
func.func @images(%x: tensor<0x2x6x6xf32>, %w: tensor<4x2x3x3xf32>) -> (tensor<0x4x2x2xf32>, tensor<4x2x3x3xf32>) {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<0x2x6x6xf32>, tensor<4x2x3x3xf32>
  %1 = nn.pool max %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<0x4x4x4xf32>
  %2 = nn.conv_filter_grad %x, %0 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<0x2x6x6xf32>, tensor<0x4x4x4xf32>
  return %1, %2 : tensor<0x4x2x2xf32>, tensor<4x2x3x3xf32>
}

// -----

// Other reductions give what changes nothing.
// CHECK-LABEL: @identities
// CHECK-DAG: nn.constant dense<1.000000e+00> : tensor<3xf32>
// CHECK-DAG: nn.constant dense<0xFF800000> : tensor<3xf32>
// CHECK-DAG: nn.constant dense<2147483647> : tensor<3xi32>
// CHECK-NOT: nn.reduce
func.func @identities(%x: tensor<0x3xf32>, %i: tensor<0x3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) {
  %0 = nn.reduce prod %x axes = [0] : tensor<0x3xf32>
  %1 = nn.reduce max %x axes = [0] : tensor<0x3xf32>
  %2 = nn.reduce min %i axes = [0] : tensor<0x3xi32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi32>
}

// -----

// Rows that no index names are gathered and scattered nowhere. What ranks do together stays.
dist.mesh @mesh ["data"] [4]
// CHECK-LABEL: @table
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce sum %[[ZERO]]
// CHECK-NEXT: return %[[SUM]]
func.func @table(%e: tensor<9x4xf32>, %i: tensor<0x1xi64>) -> tensor<9x4xf32> attributes {dist.rank = 3 : i64} {
  %0 = nn.gather_nd %e, %i : tensor<9x4xf32>, tensor<0x1xi64>
  %z = nn.constant dense<0.0> : tensor<9x4xf32>
  %1 = nn.scatter_nd add %z, %i, %0 : tensor<9x4xf32>, tensor<0x1xi64>, tensor<0x4xf32>
  %2 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<9x4xf32>
  return %2 : tensor<9x4xf32>
}
