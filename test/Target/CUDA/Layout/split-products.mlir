// RUN: %sprig-opt %s --sprig-split-products | FileCheck %s

// The gradient of a weight: parts of 512 samples, added up in their order.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[X:.*]]: tensor<1536x40xf32>, %[[G:.*]]: tensor<1536x24xf32>
// CHECK-DAG: %[[L:.*]] = nn.reshape %[[X]] : tensor<1536x40xf32> to tensor<3x512x40xf32>
// CHECK-DAG: %[[R:.*]] = nn.reshape %[[G]] : tensor<1536x24xf32> to tensor<3x512x24xf32>
// CHECK: %[[P:.*]] = nn.matmul %[[L]], %[[R]] {transpose_lhs} : tensor<3x512x40xf32>, tensor<3x512x24xf32>
// CHECK: kernel.sum_parts %[[P]] : tensor<3x40x24xf32>
func.func @gradient(%x: tensor<1536x40xf32>, %g: tensor<1536x24xf32>) -> tensor<40x24xf32> {
  %0 = nn.matmul %x, %g {transpose_lhs} : tensor<1536x40xf32>, tensor<1536x24xf32>
  return %0 : tensor<40x24xf32>
}

// One row.
// CHECK-LABEL: func.func @row(
// CHECK-DAG: %[[L:.*]] = nn.reshape %{{.*}} : tensor<1x2048xf32> to tensor<4x1x512xf32>
// CHECK-DAG: %[[R:.*]] = nn.reshape %{{.*}} : tensor<2048x100xf32> to tensor<4x512x100xf32>
// CHECK: nn.matmul %[[L]], %[[R]] : tensor<4x1x512xf32>, tensor<4x512x100xf32>
func.func @row(%x: tensor<1x2048xf32>, %w: tensor<2048x100xf32>) -> tensor<1x100xf32> {
  %0 = nn.matmul %x, %w : tensor<1x2048xf32>, tensor<2048x100xf32>
  return %0 : tensor<1x100xf32>
}

// However many parts there are.
// CHECK-LABEL: func.func @many(
// CHECK: kernel.sum_parts %{{.*}} : tensor<100x40x40xf32>
func.func @many(%a: tensor<51200x40xf32>) -> tensor<40x40xf32> {
  %0 = nn.matmul %a, %a {transpose_lhs} : tensor<51200x40xf32>, tensor<51200x40xf32>
  return %0 : tensor<40x40xf32>
}

// Parts that are not all of 512.
// CHECK-LABEL: func.func @rest(
// CHECK: %[[P:.*]] = kernel.matmul_parts %{{.*}}, %{{.*}} : tensor<1537x40xf32>, tensor<1537x24xf32>
// CHECK: kernel.sum_parts %[[P]] : tensor<4x40x24xf32>
func.func @rest(%x: tensor<1537x40xf32>, %g: tensor<1537x24xf32>) -> tensor<40x24xf32> {
  %0 = nn.matmul %x, %g {transpose_lhs} : tensor<1537x40xf32>, tensor<1537x24xf32>
  return %0 : tensor<40x24xf32>
}

// One chain; parts that do not lie behind each other; one row, not all of 512; many tiles.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: nn.reshape
// CHECK-NOT: kernel.matmul_parts
// CHECK: return
func.func @whole(%a: tensor<1024x40xf32>, %b: tensor<1536x40xf32>, %c: tensor<40x1536xf32>, %d: tensor<1x1100xf32>, %w: tensor<1100x40xf32>, %e: tensor<1536x512xf32>)
    -> (tensor<40x40xf32>, tensor<40x40xf32>, tensor<1x40xf32>, tensor<512x512xf32>) {
  %0 = nn.matmul %a, %a {transpose_lhs} : tensor<1024x40xf32>, tensor<1024x40xf32>
  %1 = nn.matmul %c, %b : tensor<40x1536xf32>, tensor<1536x40xf32>
  %2 = nn.matmul %d, %w : tensor<1x1100xf32>, tensor<1100x40xf32>
  %3 = nn.matmul %e, %e {transpose_lhs} : tensor<1536x512xf32>, tensor<1536x512xf32>
  return %0, %1, %2, %3 : tensor<40x40xf32>, tensor<40x40xf32>, tensor<1x40xf32>, tensor<512x512xf32>
}

// Gradients of filters: any number of positions.
// CHECK-LABEL: func.func @filter(
// CHECK: %[[P:.*]] = kernel.conv_filter_grad_parts %{{.*}}, %{{.*}} {channels_first, {{.*}}groups = 2 : i64{{.*}}} : tensor<5x6x15x14xf32>, tensor<5x8x15x14xf32>
// CHECK: kernel.sum_parts %[[P]] : tensor<3x8x3x3x3xf32>
func.func @filter(%x: tensor<5x6x15x14xf32>, %g: tensor<5x8x15x14xf32>) -> tensor<8x3x3x3xf32> {
  %0 = nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<5x6x15x14xf32>, tensor<5x8x15x14xf32>
  return %0 : tensor<8x3x3x3xf32>
}

// One chain; many tiles; channels last.
// CHECK-LABEL: func.func @whole_filters(
// CHECK-NOT: kernel.
// CHECK: return
func.func @whole_filters(%a: tensor<4x6x16x16xf32>, %b: tensor<4x8x16x16xf32>, %c: tensor<8x256x16x16xf32>, %d: tensor<8x256x16x16xf32>, %e: tensor<5x15x14x6xf32>, %f: tensor<5x15x14x8xf32>)
    -> (tensor<8x6x3x3xf32>, tensor<256x256x3x3xf32>, tensor<8x6x3x3xf32>) {
  %0 = nn.conv_filter_grad %a, %b {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<4x6x16x16xf32>, tensor<4x8x16x16xf32>
  %1 = nn.conv_filter_grad %c, %d {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<8x256x16x16xf32>, tensor<8x256x16x16xf32>
  %2 = nn.conv_filter_grad %e, %f {channels_last, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<5x15x14x6xf32>, tensor<5x15x14x8xf32>
  return %0, %1, %2 : tensor<8x6x3x3xf32>, tensor<256x256x3x3xf32>, tensor<8x6x3x3xf32>
}
