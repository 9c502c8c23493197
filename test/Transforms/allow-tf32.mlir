// RUN: %sprig-opt %s --split-input-file --sprig-allow-tf32 | FileCheck %s

// Dispatches with a product of f32, of matrices or of a convolution, and no others.
// CHECK-LABEL: @products
func.func @products(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %d: tensor<4x8xf64>, %i: tensor<1x4x5x5xf32>, %f: tensor<8x4x3x3xf32>) -> (tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x4xf32>, tensor<1x8x3x3xf32>) {
  // CHECK: kernel.dispatch "matmul_relu"
  // CHECK-SAME: attributes {tf32}
  %0 = kernel.dispatch "matmul_relu" (%a = %x : tensor<8x4xf32>, %b = %w : tensor<4x8xf32>) -> tensor<8x8xf32> {
    %p = nn.matmul %a, %b : tensor<8x4xf32>, tensor<4x8xf32>
    %r = nn.relu %p : tensor<8x8xf32>
    kernel.yield %r : tensor<8x8xf32>
  }
  // CHECK: kernel.dispatch "cast_matmul"
  // CHECK-NOT: tf32
  %1 = kernel.dispatch "cast_matmul" (%a = %x : tensor<8x4xf32>, %b = %d : tensor<4x8xf64>) -> tensor<8x8xf64> {
    %c = nn.cast %a : tensor<8x4xf32> to tensor<8x4xf64>
    %p = nn.matmul %c, %b : tensor<8x4xf64>, tensor<4x8xf64>
    kernel.yield %p : tensor<8x8xf64>
  }
  %2 = kernel.dispatch "relu" (%a = %x : tensor<8x4xf32>) -> tensor<8x4xf32> {
    %r = nn.relu %a : tensor<8x4xf32>
    kernel.yield %r : tensor<8x4xf32>
  }
  // CHECK: kernel.dispatch "conv"
  // CHECK-SAME: attributes {tf32}
  %3 = kernel.dispatch "conv" (%a = %i : tensor<1x4x5x5xf32>, %b = %f : tensor<8x4x3x3xf32>) -> tensor<1x8x3x3xf32> {
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x4x5x5xf32>, tensor<8x4x3x3xf32>
    kernel.yield %c : tensor<1x8x3x3xf32>
  }
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x4xf32>, tensor<1x8x3x3xf32>
}

// -----

// Parts of a product are added up in f32.
// CHECK-LABEL: @parts
// CHECK-NOT: tf32
func.func @parts(%x: tensor<72x6xf32>) -> tensor<6xf32> {
  %0 = kernel.dispatch "sum_parts" (%a = %x : tensor<72x6xf32>) -> tensor<6xf32> {
    %s = kernel.sum_parts %a : tensor<72x6xf32>
    kernel.yield %s : tensor<6xf32>
  }
  return %0 : tensor<6xf32>
}
