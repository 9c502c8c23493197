// Products with an accumulator that a target has no kernel for, on operands of its type.
// RUN: %sprig-opt %s --split-input-file --sprig-widen-products | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-widen-products=target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: not %sprig-opt %s --split-input-file --sprig-widen-products=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: there is no target 'abacus'; the targets are cpu, cuda

// CHECK-LABEL: func.func @constant(
// CHECK: nn.matmul %arg0, %{{.*}} {accumulator = i32} : tensor<2x2xui8>, tensor<2x2xi8>
// CUDA-LABEL: func.func @constant(
// CUDA-DAG: %[[X:.*]] = nn.cast %arg0 : tensor<2x2xui8> to tensor<2x2xi32>
// CUDA-DAG: %[[W:.*]] = nn.cast %{{.*}} : tensor<2x2xi8> to tensor<2x2xi32>
// CUDA: nn.matmul %[[X]], %[[W]] : tensor<2x2xi32>, tensor<2x2xi32>
func.func @constant(%x: tensor<2x2xui8>) -> tensor<2x2xi32> {
  %w = nn.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>
  %r = nn.matmul %x, %w {accumulator = i32} : tensor<2x2xui8>, tensor<2x2xi8>
  return %r : tensor<2x2xi32>
}

// -----

// CHECK-LABEL: func.func @computed(
// CHECK: nn.matmul {{.*}} : tensor<2x2xi32>, tensor<2x2xi32>
// CHECK: nn.conv {{.*}} : tensor<1x1x4x4xi32>, tensor<1x1x2x2xi32>
func.func @computed(%x: tensor<2x2xui8>, %w: tensor<2x2xi8>, %y: tensor<1x1x4x4xi8>) -> (tensor<2x2xi32>, tensor<1x1x3x3xi32>) {
  %r = nn.matmul %x, %w {accumulator = i32} : tensor<2x2xui8>, tensor<2x2xi8>
  %f = nn.constant dense<1> : tensor<1x1x2x2xi8>
  %s = nn.conv %y, %f {accumulator = i32, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x1x4x4xi8>, tensor<1x1x2x2xi8>
  return %r, %s : tensor<2x2xi32>, tensor<1x1x3x3xi32>
}

// -----

// CHECK-LABEL: func.func @halves(
// CHECK: nn.matmul %arg0, %{{.*}} {accumulator = f32} : tensor<2x2xbf16>, tensor<2x2xbf16>
// CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>
// CUDA-LABEL: func.func @halves(
// CUDA-COUNT-2: nn.matmul %{{.*}}, %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>
func.func @halves(%x: tensor<2x2xbf16>, %y: tensor<2x2xbf16>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = nn.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xbf16>
  %r = nn.matmul %x, %w {accumulator = f32} : tensor<2x2xbf16>, tensor<2x2xbf16>
  %s = nn.matmul %x, %y {accumulator = f32} : tensor<2x2xbf16>, tensor<2x2xbf16>
  return %r, %s : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @looped(
// CHECK: nn.matmul {{.*}} : tensor<1x2xi32>, tensor<2x2xi32>
func.func @looped(%x: tensor<3x1x2xui8>, %h: tensor<1x2xi32>) -> tensor<1x2xi32> {
  %r = nn.scan steps = 3 over (%i = %x : tensor<3x1x2xui8>) carry (%c = %h : tensor<1x2xi32>) -> tensor<1x2xi32> {
    %w = nn.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>
    %p = nn.matmul %i, %w {accumulator = i32} : tensor<1x2xui8>, tensor<2x2xi8>
    %s = nn.add %p, %c : tensor<1x2xi32>, tensor<1x2xi32>
    nn.yield %s : tensor<1x2xi32>
  }
  return %r : tensor<1x2xi32>
}
