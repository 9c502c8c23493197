// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @conv(
// CHECK: nn.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>
  return %r : tensor<1x16x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @conv_transpose(
// CHECK: nn.conv_transpose %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : tensor<1x4x5x5xf32>, tensor<4x6x3x3xf32>
func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32> {
  %r = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : tensor<1x4x5x5xf32>, tensor<4x6x3x3xf32>
  return %r : tensor<1x6x10x10xf32>
}

// -----

// CHECK-LABEL: func.func @matmul(
// CHECK: nn.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x8x16xf32>, tensor<32x16xf32>
func.func @matmul(%x: tensor<2x8x16xf32>, %y: tensor<32x16xf32>) -> tensor<2x8x32xf32> {
  %r = nn.matmul %x, %y {transpose_rhs} : tensor<2x8x16xf32>, tensor<32x16xf32>
  return %r : tensor<2x8x32xf32>
}
