// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gradient(
// CHECK: nn.gradient %{{.*}} wrt %{{.*}} : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @gradient(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.mul %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  %1 = nn.reduce sum %0 axes = [0, 1] : tensor<2x3xf32>
  %r = nn.gradient %1 wrt %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @jvp(
// CHECK: nn.jvp %{{.*}} wrt %{{.*}} along %{{.*}} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
func.func @jvp(%x: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nn.sin %x : tensor<3xf32>
  %r = nn.jvp %0 wrt %x along %v : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @stop_gradient(
// CHECK: nn.stop_gradient %{{.*}} : tensor<4xf32>
func.func @stop_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.stop_gradient %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @custom_gradient(
// CHECK: "nn.custom_gradient"(%{{.*}}) ({
func.func @custom_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "nn.custom_gradient"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.round %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %y: tensor<4xf32>, %g: tensor<4xf32>):
    nn.yield %g : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @checkpoint(
// CHECK: "nn.checkpoint"(%{{.*}}) ({
func.func @checkpoint(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "nn.checkpoint"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.sin %a : tensor<4xf32>
    %1 = nn.exp %0 : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @after(
// CHECK: nn.after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<2xf32>
func.func @after(%x: tensor<4xf32>, %g: tensor<2xf32>) -> tensor<4xf32> {
  %r = nn.after %x, %g : tensor<4xf32>, tensor<2xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @batch_norm_train(
// CHECK: nn.batch_norm_train %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm_train(%x: tensor<2x3x4x4xf32>, %c: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
  %y, %mean, %variance = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<2x3x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @conv_filter_grad(
// CHECK: nn.conv_filter_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : tensor<2x3x8x8xf32>, tensor<2x16x8x8xf32>
func.func @conv_filter_grad(%x: tensor<2x3x8x8xf32>, %g: tensor<2x16x8x8xf32>) -> tensor<16x3x3x3xf32> {
  %r = nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x3x8x8xf32>, tensor<2x16x8x8xf32>
  return %r : tensor<16x3x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @pool_grad(
// CHECK: nn.pool_grad  max %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>
func.func @pool_grad(%x: tensor<1x3x8x8xf32>, %g: tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32> {
  %r = nn.pool_grad max %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>
  return %r : tensor<1x3x8x8xf32>
}
