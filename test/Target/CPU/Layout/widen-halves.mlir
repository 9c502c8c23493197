// Convolutions of half types by constants take both sides as f32 and are rounded once.
// RUN: sprig-opt %s --sprig-widen-halves --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constant
// CHECK-DAG: %[[W:.*]] = nn.constant dense<5.000000e-01> : tensor<3x2x2x2xf32>
// CHECK-DAG: %[[X:.*]] = nn.cast %arg0 : tensor<1x2x4x4xf16> to tensor<1x2x4x4xf32>
// CHECK: %[[Y:.*]] = nn.conv %[[X]], %[[W]] {{.*}} : tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>
// CHECK: %[[R:.*]] = nn.cast %[[Y]] : tensor<1x3x3x3xf32> to tensor<1x3x3x3xf16>
// CHECK: return %[[R]]
func.func @constant(%x: tensor<1x2x4x4xf16>) -> tensor<1x3x3x3xf16> {
  %w = nn.constant dense<0.5> : tensor<3x2x2x2xf16>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xf16>, tensor<3x2x2x2xf16>
  return %0 : tensor<1x3x3x3xf16>
}

// -----

// Filters that are computed, and sums of a type of their own, stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nn.cast
// CHECK: nn.conv %arg0, %arg1 {{.*}} : tensor<1x2x4x4xbf16>, tensor<3x2x2x2xbf16>
// CHECK: nn.conv %arg0, %{{.*}} {accumulator = f32, {{.*}} : tensor<1x2x4x4xbf16>, tensor<3x2x2x2xbf16>
func.func @others(%x: tensor<1x2x4x4xbf16>, %v: tensor<3x2x2x2xbf16>) -> (tensor<1x3x3x3xbf16>, tensor<1x3x3x3xf32>) {
  %w = nn.constant dense<0.5> : tensor<3x2x2x2xbf16>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xbf16>, tensor<3x2x2x2xbf16>
  %1 = nn.conv %x, %w {accumulator = f32, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xbf16>, tensor<3x2x2x2xbf16>
  return %0, %1 : tensor<1x3x3x3xbf16>, tensor<1x3x3x3xf32>
}
