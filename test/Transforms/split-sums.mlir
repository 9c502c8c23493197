// Long sums over samples and positions.
// RUN: %sprig-opt %s --sprig-split-sums | FileCheck %s

// CHECK-LABEL: @bias
// CHECK: %[[S:.*]] = nn.reduce sum %{{.*}} axes = [2, 3] : tensor<16x4x16x17xf32>
// CHECK: nn.reduce sum %[[S]] axes = [0] : tensor<16x4xf32>
func.func @bias(%x: tensor<16x4x16x17xf32>) -> tensor<4xf32> {
  %0 = nn.reduce sum %x axes = [0, 2, 3] : tensor<16x4x16x17xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: @kept
// CHECK: %[[S:.*]] = nn.reduce sum %{{.*}} axes = [2, 3] {keep_dims} : tensor<16x4x16x17xf32>
// CHECK: nn.reduce sum %[[S]] axes = [0] {keep_dims} : tensor<16x4x1x1xf32>
func.func @kept(%x: tensor<16x4x16x17xf32>) -> tensor<1x4x1x1xf32> {
  %0 = nn.reduce sum %x axes = [0, 2, 3] {keep_dims} : tensor<16x4x16x17xf32>
  return %0 : tensor<1x4x1x1xf32>
}
// A scalar's bits do not depend on its dimensions.
// CHECK-LABEL: @scalar
// CHECK: %[[S:.*]] = nn.reduce sum %{{.*}} axes = [1] : tensor<64x784xf64>
// CHECK: %[[T:.*]] = nn.reduce sum %[[S]] axes = [0] : tensor<64xf64>
// CHECK: nn.reshape %[[T]] : tensor<f64> to tensor<1x1xf64>
func.func @scalar(%x: tensor<64x784xf64>) -> tensor<1x1xf64> {
  %0 = nn.reduce sum %x axes = [0, 1] {keep_dims} : tensor<64x784xf64>
  return %0 : tensor<1x1xf64>
}
// Chains of 1024 at most, few elements in all (sizes are rounded up), few of each sample, one sample, maxima, half types, and what keeps the
// first dimension.
// CHECK-LABEL: @whole
// CHECK-COUNT-7: nn.reduce {{.*}} axes = [{{0, 2|0, 1, 2|0, 1|1, 2}}]
// CHECK-NOT: nn.reduce
func.func @whole(%a: tensor<32x64x32xf32>, %b: tensor<16x16x31xf32>, %c: tensor<4096x15x7xf32>, %d: tensor<1x64x512xf32>,
                 %e: tensor<64x64x8xf32>, %f: tensor<64x64x8xf16>)
    -> (tensor<64xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf16>, tensor<64xf32>) {
  %0 = nn.reduce sum %a axes = [0, 2] : tensor<32x64x32xf32>
  %1 = nn.reduce sum %b axes = [0, 1, 2] : tensor<16x16x31xf32>
  %2 = nn.reduce sum %c axes = [0, 1] : tensor<4096x15x7xf32>
  %3 = nn.reduce sum %d axes = [0, 1, 2] : tensor<1x64x512xf32>
  %4 = nn.reduce max %e axes = [0, 1] : tensor<64x64x8xf32>
  %5 = nn.reduce sum %f axes = [0, 1] : tensor<64x64x8xf16>
  %6 = nn.reduce sum %e axes = [1, 2] : tensor<64x64x8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<64xf32>, tensor<f32>, tensor<7xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf16>, tensor<64xf32>
}
