// RUN: %sprig-opt %s --sprig-fuse=target=cuda | FileCheck %s

// Convolutions on two devices have a copy of the filter each, where they are.
// CHECK-LABEL: func.func @placed
// CHECK: kernel.dispatch "transpose" {{.*}} -> tensor<3x3x32x16xf32> {
// CHECK: kernel.dispatch "conv" {{.*}} -> tensor<16x16x32x32xf32> {
// CHECK: kernel.dispatch "transpose" {{.*}} -> tensor<3x3x32x16xf32> attributes {kernel.device = 1 : i64} {
// CHECK: kernel.dispatch "conv" {{.*}} -> tensor<16x16x32x32xf32> attributes {kernel.device = 1 : i64} {
module attributes {kernel.devices = ["cuda:0", "cuda:1"]} {
  func.func @placed(%x: tensor<16x32x32x32xf32>, %w: tensor<16x32x3x3xf32>) -> (tensor<16x16x32x32xf32>, tensor<16x16x32x32xf32>) {
    %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x32xf32>, tensor<16x32x3x3xf32>
    %1 = nn.conv %x, %w {kernel.device = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x32xf32>, tensor<16x32x3x3xf32>
    return %0, %1 : tensor<16x16x32x32xf32>, tensor<16x16x32x32xf32>
  }
}
