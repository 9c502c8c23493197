// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @conv_depthwise_dot(
// CHECK: kernel.conv_depthwise_dot %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, fill = 7 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 1>, window = array<i64: 5, 3>} : tensor<1x8x8x20xui8>, tensor<2x3x32x4xi8>
func.func @conv_depthwise_dot(%x: tensor<1x8x8x20xui8>, %w: tensor<2x3x32x4xi8>) -> tensor<1x3x8x20xi32> {
  %r = kernel.conv_depthwise_dot %x, %w {window = array<i64: 5, 3>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, fill = 7 : i64} : tensor<1x8x8x20xui8>, tensor<2x3x32x4xi8>
  return %r : tensor<1x3x8x20xi32>
}

// -----

// CHECK-LABEL: func.func @conv_depthwise(
// CHECK: kernel.conv_depthwise %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : tensor<1x8x8x16xf32>, tensor<3x3x16xf32>
func.func @conv_depthwise(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<1x8x8x16xf32> {
  %r = kernel.conv_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x16xf32>, tensor<3x3x16xf32>
  return %r : tensor<1x8x8x16xf32>
}

// -----

// CHECK-LABEL: func.func @conv_packed(
// CHECK: kernel.conv_packed %{{.*}}, %{{.*}} {channels = 16 : i64, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
func.func @conv_packed(%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>) -> tensor<1x8x8x16xf32> {
  %r = kernel.conv_packed %x, %w {window = array<i64: 3, 3>, channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
  return %r : tensor<1x8x8x16xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_narrow(
// CHECK: kernel.matmul_narrow %{{.*}}, %{{.*}}, %{{.*}} {bits = 4 : i64, columns = 40 : i64, group = 32 : i64, zero = 8 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
// CHECK: kernel.matmul_narrow %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {bits = 8 : i64, columns = 40 : i64, group = 64 : i64} : tensor<8x63xf32>, tensor<2x16x32x4xui8>, tensor<2x1x32xf32>, tensor<2x1x32xui8>
func.func @matmul_narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>, %y: tensor<8x63xf32>, %v: tensor<2x16x32x4xui8>, %t: tensor<2x1x32xf32>, %z: tensor<2x1x32xui8>) -> (tensor<8x40xf32>, tensor<8x40xf32>) {
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 32 : i64, zero = 8 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  %p = kernel.matmul_narrow %y, %v, %t, %z {columns = 40 : i64, bits = 8 : i64, group = 64 : i64} : tensor<8x63xf32>, tensor<2x16x32x4xui8>, tensor<2x1x32xf32>, tensor<2x1x32xui8>
  return %r, %p : tensor<8x40xf32>, tensor<8x40xf32>
}

// CHECK-LABEL: func.func @matmul_narrow_dot(
// CHECK: kernel.matmul_narrow_dot %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {columns = 40 : i64, group = 32 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>, tensor<2x2x32xui8>
func.func @matmul_narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>, %z: tensor<2x2x32xui8>) -> tensor<8x40xf32> {
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s, %z {columns = 40 : i64, group = 32 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>, tensor<2x2x32xui8>
  return %r : tensor<8x40xf32>
}

// CHECK-LABEL: func.func @matmul_halves(
// CHECK: kernel.matmul_packed %{{.*}}, %{{.*}} {columns = 40 : i64, lowest = -8 : i64} : tensor<8x16xui8>, tensor<2x2x32x4xui8>
func.func @matmul_halves(%x: tensor<8x16xui8>, %w: tensor<2x2x32x4xui8>) -> tensor<8x40xi32> {
  %r = kernel.matmul_packed %x, %w {columns = 40 : i64, lowest = -8 : i64} : tensor<8x16xui8>, tensor<2x2x32x4xui8>
  return %r : tensor<8x40xi32>
}

// CHECK-LABEL: func.func @matmul_packed(
// CHECK: kernel.matmul_packed %{{.*}}, %{{.*}} {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>
func.func @matmul_packed(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>) -> tensor<8x40xf32> {
  %r = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>
  return %r : tensor<8x40xf32>
}

// -----

// CHECK-LABEL: func.func @pack(
// CHECK: kernel.pack %{{.*}} : tensor<16x40xf32>
func.func @pack(%w: tensor<16x40xf32>) -> tensor<2x16x32xf32> {
  %r = kernel.pack %w : tensor<16x40xf32>
  return %r : tensor<2x16x32xf32>
}

// -----

// CHECK-LABEL: func.func @conv_winograd(
// CHECK: kernel.conv_winograd %{{.*}}, %{{.*}} {channels = 40 : i64, padding = array<i64: 1, 1, 0, 1>, tile = array<i64: 4, 2>, window = array<i64: 3, 3>} : tensor<1x8x9x3xf32>, tensor<2x72x32xf32>
func.func @conv_winograd(%x: tensor<1x8x9x3xf32>, %w: tensor<2x72x32xf32>) -> tensor<1x7x9x40xf32> {
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 2>, channels = 40 : i64, padding = array<i64: 1, 1, 0, 1>} : tensor<1x8x9x3xf32>, tensor<2x72x32xf32>
  return %r : tensor<1x7x9x40xf32>
}

// -----

// Parts of 512 of 1536 positions, and of what is left.
// CHECK-LABEL: func.func @conv_filter_grad_parts(
// CHECK: kernel.conv_filter_grad_parts %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : tensor<6x16x16x4xf32>, tensor<6x16x16x8xf32>
// CHECK: kernel.conv_filter_grad_parts {{.*}}groups = 2 : i64{{.*}} : tensor<1x600x4xf64>, tensor<1x600x8xf64>
func.func @conv_filter_grad_parts(%x: tensor<6x16x16x4xf32>, %g: tensor<6x16x16x8xf32>, %y: tensor<1x600x4xf64>, %h: tensor<1x600x8xf64>) -> (tensor<3x8x4x3x3xf32>, tensor<2x8x2x1xf64>) {
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<6x16x16x4xf32>, tensor<6x16x16x8xf32>
  %s = kernel.conv_filter_grad_parts %y, %h {window = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 2 : i64} : tensor<1x600x4xf64>, tensor<1x600x8xf64>
  return %r, %s : tensor<3x8x4x3x3xf32>, tensor<2x8x2x1xf64>
}

// CHECK-LABEL: func.func @parts_in_the_models_layout(
// CHECK: %[[P:.*]] = kernel.conv_filter_grad_parts %{{.*}}, %{{.*}} {channels_first, {{.*}}} : tensor<6x4x16x16xf32>, tensor<6x8x16x16xf32>
// CHECK: kernel.sum_parts %[[P]] : tensor<3x8x4x3x3xf32>
func.func @parts_in_the_models_layout(%x: tensor<6x4x16x16xf32>, %g: tensor<6x8x16x16xf32>) -> tensor<8x4x3x3xf32> {
  %p = kernel.conv_filter_grad_parts %x, %g {channels_first, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<6x4x16x16xf32>, tensor<6x8x16x16xf32>
  %s = kernel.sum_parts %p : tensor<3x8x4x3x3xf32>
  return %s : tensor<8x4x3x3xf32>
}

// CHECK-LABEL: func.func @matmul_parts(
// CHECK: kernel.matmul_parts %{{.*}}, %{{.*}} : tensor<1100x40xf32>, tensor<1100x24xf32>
func.func @matmul_parts(%x: tensor<1100x40xf32>, %g: tensor<1100x24xf32>) -> tensor<3x40x24xf32> {
  %p = kernel.matmul_parts %x, %g : tensor<1100x40xf32>, tensor<1100x24xf32>
  return %p : tensor<3x40x24xf32>
}
