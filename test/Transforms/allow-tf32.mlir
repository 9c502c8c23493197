// RUN: %sprig-opt %s --split-input-file --sprig-allow-tf32 | FileCheck %s

// Dispatches with a product of f32 matrices, and no others.
// CHECK-LABEL: @products
func.func @products(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %d: tensor<4x8xf64>) -> (tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x4xf32>) {
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
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x4xf32>
}
