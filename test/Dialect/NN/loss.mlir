// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @class_index(
// CHECK: nn.class_index %{{.*}} {classes = 10 : i64} : tensor<8xi64>
func.func @class_index(%t: tensor<8xi64>) -> tensor<8xi64> {
  %r = nn.class_index %t {classes = 10 : i64} : tensor<8xi64>
  return %r : tensor<8xi64>
}

// -----

// CHECK-LABEL: func.func @cross_entropy(
// CHECK: nn.cross_entropy  mean %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : tensor<8x10xf32>, tensor<8xi64>
func.func @cross_entropy(%x: tensor<8x10xf32>, %t: tensor<8xi64>) -> tensor<f32> {
  %r = nn.cross_entropy mean %x, %t {label_smoothing = 0.1 : f64} : tensor<8x10xf32>, tensor<8xi64>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @nll_loss(
// CHECK: nn.nll_loss  sum %{{.*}}, %{{.*}} weights %{{.*}} {ignore_index = -100 : i64} : tensor<8x10xf32>, tensor<8xi64>, tensor<10xf32>
func.func @nll_loss(%x: tensor<8x10xf32>, %t: tensor<8xi64>, %w: tensor<10xf32>) -> tensor<f32> {
  %r = nn.nll_loss sum %x, %t weights %w {ignore_index = -100 : i64} : tensor<8x10xf32>, tensor<8xi64>, tensor<10xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @mse_loss(
// CHECK: nn.mse_loss  mean %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @mse_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.mse_loss mean %x, %t : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @l1_loss(
// CHECK: nn.l1_loss  mean %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @l1_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.l1_loss mean %x, %t : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @huber_loss(
// CHECK: nn.huber_loss  mean %{{.*}}, %{{.*}} {delta = 5.000000e-01 : f64} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @huber_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.huber_loss mean %x, %t {delta = 0.5 : f64} : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @bce_loss(
// CHECK: nn.bce_loss  mean %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @bce_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.bce_loss mean %x, %t : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @bce_with_logits_loss(
// CHECK: nn.bce_with_logits_loss  mean %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @bce_with_logits_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.bce_with_logits_loss mean %x, %t : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @kl_div_loss(
// CHECK: nn.kl_div_loss  mean %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @kl_div_loss(%x: tensor<8x4xf32>, %t: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.kl_div_loss mean %x, %t : tensor<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @loss_mean(
// CHECK: nn.loss_mean %{{.*}} {dims = 1 : i64} : tensor<8x4xf32>
func.func @loss_mean(%x: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.loss_mean %x {dims = 1 : i64} : tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @loss_mean_grad(
// CHECK: nn.loss_mean_grad %{{.*}} like %{{.*}} {dims = 2 : i64} : tensor<f32>, tensor<8x4xf32>
func.func @loss_mean_grad(%g: tensor<f32>, %x: tensor<8x4xf32>) -> tensor<f32> {
  %r = nn.loss_mean_grad %g like %x {dims = 2 : i64} : tensor<f32>, tensor<8x4xf32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @loss_scale(
// CHECK: nn.loss_scale %{{.*}}, %{{.*}} {factor = 1.000000e-01 : f64} : tensor<f32>
func.func @loss_scale(%x: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  %r = nn.loss_scale %x, %c {factor = 0.1 : f64} : tensor<f32>
  return %r : tensor<f32>
}
