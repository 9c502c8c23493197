// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @broadcast(
// CHECK: nn.broadcast %{{.*}} : tensor<3x1xf32> to tensor<2x3x4xf32>
func.func @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %r = nn.broadcast %x : tensor<3x1xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @concat(
// CHECK: nn.concat %{{.*}}, %{{.*}} axis = 1 : tensor<2x3xf32>, tensor<2x5xf32>
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %r = nn.concat %x, %y axis = 1 : tensor<2x3xf32>, tensor<2x5xf32>
  return %r : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @constant(
// CHECK: nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
func.func @constant() -> tensor<3xf32> {
  %r = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @gather(
// CHECK: nn.gather %{{.*}}, %{{.*}} axis = 0 : tensor<10x4xf32>, tensor<3xi64>
func.func @gather(%x: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %r = nn.gather %x, %i axis = 0 : tensor<10x4xf32>, tensor<3xi64>
  return %r : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @gather_elements(
// CHECK: nn.gather_elements %{{.*}}, %{{.*}} axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>
func.func @gather_elements(%x: tensor<3x4xf32>, %i: tensor<2x4xi64>) -> tensor<2x4xf32> {
  %r = nn.gather_elements %x, %i axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>
  return %r : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @gather_nd(
// CHECK: nn.gather_nd %{{.*}}, %{{.*}} : tensor<3x4x5xf32>, tensor<6x2xi64>
func.func @gather_nd(%x: tensor<3x4x5xf32>, %i: tensor<6x2xi64>) -> tensor<6x5xf32> {
  %r = nn.gather_nd %x, %i : tensor<3x4x5xf32>, tensor<6x2xi64>
  return %r : tensor<6x5xf32>
}

// -----

// CHECK-LABEL: func.func @iota(
// CHECK: nn.iota axis = 1 : tensor<2x4xf32>
func.func @iota() -> tensor<2x4xf32> {
  %r = nn.iota axis = 1 : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @pad(
// CHECK: nn.pad constant %{{.*}}, %{{.*}} low = [0, 1] high = [0, 2] : tensor<2x3xf32>, tensor<f32>
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x6xf32> {
  %r = nn.pad constant %x, %v low = [0, 1] high = [0, 2] : tensor<2x3xf32>, tensor<f32>
  return %r : tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func.func @reshape(
// CHECK: nn.reshape %{{.*}} : tensor<2x6xf32> to tensor<3x4xf32>
func.func @reshape(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %r = nn.reshape %x : tensor<2x6xf32> to tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_elements(
// CHECK: nn.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>
func.func @scatter_elements(%x: tensor<3x4xf32>, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %r = nn.scatter_elements add %x, %i, %u axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_nd(
// CHECK: nn.scatter_nd none %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>
func.func @scatter_nd(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %r = nn.scatter_nd none %x, %i, %u : tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @slice(
// CHECK: nn.slice %{{.*}} starts = [1, 7] sizes = [2, 4] steps = [1, -2] : tensor<4x8xf32>
func.func @slice(%x: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %r = nn.slice %x starts = [1, 7] sizes = [2, 4] steps = [1, -2] : tensor<4x8xf32>
  return %r : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @transpose(
// CHECK: nn.transpose %{{.*}} [2, 0, 1] : tensor<2x3x4xf32>
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %r = nn.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  return %r : tensor<4x2x3xf32>
}
