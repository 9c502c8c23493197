// The precision policy bf16: products with constants take rounded factors and sum in f32.
// RUN: sprig-opt %s --sprig-round-factors --split-input-file | FileCheck %s

// Both users of a value share its rounded form; 1 + 2^-8 lies in the middle and goes to the even one, 1.
// CHECK-LABEL: func.func @matrices
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}1.000000e+00, 1.007810e+00], [-3.000000e+00, 4.000000e+00]]> : tensor<2x2xbf16>
// CHECK-DAG: %[[V:.*]] = nn.constant dense<5.000000e-01> : tensor<2x3xbf16>
// CHECK-DAG: %[[X:.*]] = nn.cast %arg0 : tensor<4x2xf32> to tensor<4x2xbf16>
// CHECK-NOT: nn.cast
// CHECK: nn.matmul %[[X]], %[[W]] {accumulator = f32, transpose_rhs} : tensor<4x2xbf16>, tensor<2x2xbf16>
// CHECK: nn.matmul %[[X]], %[[V]] {accumulator = f32} : tensor<4x2xbf16>, tensor<2x3xbf16>
func.func @matrices(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x3xf32>) {
  %w = nn.constant dense<[[1.00390625, 1.0078125], [-3.0, 4.0]]> : tensor<2x2xf32>
  %v = nn.constant dense<0.5> : tensor<2x3xf32>
  %a = nn.matmul %x, %w {transpose_rhs} : tensor<4x2xf32>, tensor<2x2xf32>
  %b = nn.matmul %x, %v : tensor<4x2xf32>, tensor<2x3xf32>
  return %a, %b : tensor<4x2xf32>, tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @filter
// CHECK: nn.conv {{.*}} {accumulator = f32, channels_last, {{.*}}} : tensor<1x4x4x2xbf16>, tensor<3x2x2x2xbf16>
func.func @filter(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x3xf32> {
  %w = nn.constant dense<1.0> : tensor<3x2x2x2xf32>
  %0 = nn.conv %x, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>
  return %0 : tensor<1x3x3x3xf32>
}

// -----

// Computed right sides, several matrices, transposed left sides, odd channels and other types stay as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: bf16
// CHECK: return
func.func @others(%x: tensor<4x2xf32>, %y: tensor<2x3xf32>, %z: tensor<5x4x2xf32>, %i: tensor<1x4x4x3xf32>, %d: tensor<4x2xf64>)
    -> (tensor<4x3xf32>, tensor<5x4x3xf32>, tensor<2x3xf32>, tensor<1x4x4x2xf32>, tensor<4x3xf64>) {
  %a = nn.matmul %x, %y : tensor<4x2xf32>, tensor<2x3xf32>
  %w = nn.constant dense<2.0> : tensor<5x2x3xf32>
  %b = nn.matmul %z, %w : tensor<5x4x2xf32>, tensor<5x2x3xf32>
  %v = nn.constant dense<2.0> : tensor<4x3xf32>
  %c = nn.matmul %x, %v {transpose_lhs} : tensor<4x2xf32>, tensor<4x3xf32>
  %f = nn.constant dense<1.0> : tensor<2x3x1x1xf32>
  %g = nn.conv %i, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x4x4x3xf32>, tensor<2x3x1x1xf32>
  %u = nn.constant dense<2.0> : tensor<2x3xf64>
  %h = nn.matmul %d, %u : tensor<4x2xf64>, tensor<2x3xf64>
  return %a, %b, %c, %g, %h : tensor<4x3xf32>, tensor<5x4x3xf32>, tensor<2x3xf32>, tensor<1x4x4x2xf32>, tensor<4x3xf64>
}

// -----

// So do products in loops.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: bf16
// CHECK: return
func.func @loop(%x: tensor<3x1x2xf32>, %h: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %r = nn.scan steps = 3 over (%i = %x : tensor<3x1x2xf32>) carry (%c = %h : tensor<1x2xf32>) -> tensor<1x2xf32> {
    %w = nn.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32>
    %p = nn.matmul %i, %w : tensor<1x2xf32>, tensor<2x2xf32>
    %s = nn.add %p, %c : tensor<1x2xf32>, tensor<1x2xf32>
    nn.yield %s : tensor<1x2xf32>
  }
  return %r : tensor<1x2xf32>
}
