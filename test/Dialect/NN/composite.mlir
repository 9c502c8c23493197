// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @avg_pool(
// CHECK: nn.avg_pool %{{.*}} {counted_padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : tensor<1x3x8x8xf32>
func.func @avg_pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32> {
  %r = nn.avg_pool %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, counted_padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return %r : tensor<1x3x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @batch_norm(
// CHECK: nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm(%x: tensor<2x3x4x4xf32>, %c: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
  %r = nn.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %r : tensor<2x3x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @celu(
// CHECK: nn.celu %{{.*}} {alpha = 2.000000e+00 : f64} : tensor<2x3xf32>
func.func @celu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.celu %x {alpha = 2.0 : f64} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @elu(
// CHECK: nn.elu %{{.*}} {alpha = 1.500000e+00 : f64} : tensor<2x3xf32>
func.func @elu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.elu %x {alpha = 1.5 : f64} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @gelu(
// CHECK: nn.gelu %{{.*}} {tanh_approximation} : tensor<2x3xf32>
func.func @gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.gelu %x {tanh_approximation} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @group_norm(
// CHECK: nn.group_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, groups = 3 : i64} : tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>
func.func @group_norm(%x: tensor<2x6x4x4xf32>, %c: tensor<6xf32>) -> tensor<2x6x4x4xf32> {
  %r = nn.group_norm %x, %c, %c {groups = 3 : i64, epsilon = 1.0e-5 : f64} : tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>
  return %r : tensor<2x6x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK: nn.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x3xf32>
func.func @hard_sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.hard_sigmoid %x {alpha = 0.2 : f64, beta = 0.5 : f64} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @hard_swish(
// CHECK: nn.hard_swish %{{.*}} : tensor<2x3xf32>
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.hard_swish %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @layer_norm(
// CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 1 {epsilon = 1.000000e-05 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
func.func @layer_norm(%x: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<2x8xf32> {
  %r = nn.layer_norm %x, %c, %c axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @leaky_relu(
// CHECK: nn.leaky_relu %{{.*}} {alpha = 1.000000e-01 : f64} : tensor<2x3xf32>
func.func @leaky_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.leaky_relu %x {alpha = 0.1 : f64} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @linear(
// CHECK: nn.linear %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x16xf32>, tensor<10x16xf32>, tensor<10xf32>
func.func @linear(%x: tensor<4x16xf32>, %w: tensor<10x16xf32>, %b: tensor<10xf32>) -> tensor<4x10xf32> {
  %r = nn.linear %x, %w, %b : tensor<4x16xf32>, tensor<10x16xf32>, tensor<10xf32>
  return %r : tensor<4x10xf32>
}

// -----

// CHECK-LABEL: func.func @log_softmax(
// CHECK: nn.log_softmax %{{.*}} axis = 1 : tensor<2x10xf32>
func.func @log_softmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.log_softmax %x axis = 1 : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: func.func @mish(
// CHECK: nn.mish %{{.*}} : tensor<2x3xf32>
func.func @mish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.mish %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reduce_mean(
// CHECK: nn.reduce_mean %{{.*}} axes = [1, 2] : tensor<2x3x4xf32>
func.func @reduce_mean(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %r = nn.reduce_mean %x axes = [1, 2] : tensor<2x3x4xf32>
  return %r : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @rms_norm(
// CHECK: nn.rms_norm %{{.*}}, %{{.*}} axis = 1 {epsilon = 1.000000e-05 : f64} : tensor<2x8xf32>, tensor<8xf32>
func.func @rms_norm(%x: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<2x8xf32> {
  %r = nn.rms_norm %x, %c axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x8xf32>, tensor<8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @selu(
// CHECK: nn.selu %{{.*}} {alpha = 1.673260e+00 : f64, gamma = 1.050700e+00 : f64} : tensor<2x3xf32>
func.func @selu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.selu %x {alpha = 1.67326 : f64, gamma = 1.0507 : f64} : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @silu(
// CHECK: nn.silu %{{.*}} : tensor<2x3xf32>
func.func @silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.silu %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @masked_softmax(
// CHECK: nn.softmax %{{.*}} axis = 1 {masked} : tensor<2x10xf32>
func.func @masked_softmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.softmax %x axis = 1 {masked} : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK: nn.softmax %{{.*}} axis = 1 : tensor<2x10xf32>
func.func @softmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.softmax %x axis = 1 : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: func.func @softplus(
// CHECK: nn.softplus %{{.*}} : tensor<2x3xf32>
func.func @softplus(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.softplus %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @softsign(
// CHECK: nn.softsign %{{.*}} : tensor<2x3xf32>
func.func @softsign(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.softsign %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
