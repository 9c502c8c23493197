// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @arg_max_pool(
// CHECK: nn.arg_max_pool %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : tensor<1x3x8x8xf32>
func.func @arg_max_pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xi64> {
  %r = nn.arg_max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return %r : tensor<1x3x4x4xi64>
}

// -----

// CHECK-LABEL: func.func @arg_reduce(
// CHECK: nn.arg_reduce max %{{.*}} axis = 1 : tensor<2x10xf32>
func.func @arg_reduce(%x: tensor<2x10xf32>) -> tensor<2xi64> {
  %r = nn.arg_reduce max %x axis = 1 : tensor<2x10xf32>
  return %r : tensor<2xi64>
}

// -----

// CHECK-LABEL: func.func @cumulative(
// CHECK: nn.cumulative sum %{{.*}} axis = 1 {exclusive} : tensor<2x10xf32>
func.func @cumulative(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.cumulative sum %x axis = 1 {exclusive} : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: func.func @pool(
// CHECK: nn.pool max %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : tensor<1x3x8x8xf32>
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  %r = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return %r : tensor<1x3x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @reduce(
// CHECK: nn.reduce sum %{{.*}} axes = [0, 2] {keep_dims} : tensor<2x3x4xf32>
func.func @reduce(%x: tensor<2x3x4xf32>) -> tensor<1x3x1xf32> {
  %r = nn.reduce sum %x axes = [0, 2] {keep_dims} : tensor<2x3x4xf32>
  return %r : tensor<1x3x1xf32>
}

// -----

// CHECK-LABEL: func.func @top_k(
// CHECK: nn.top_k %{{.*}} {axis = 1 : i64, k = 3 : i64} : tensor<2x10xf32>
func.func @top_k(%x: tensor<2x10xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %values, %indices = nn.top_k %x {k = 3 : i64, axis = 1 : i64} : tensor<2x10xf32>
  return %values, %indices : tensor<2x3xf32>, tensor<2x3xi64>
}
