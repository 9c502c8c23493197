// RUN: %sprig-opt %s --sprig-freeze --canonicalize --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(sprig-freeze{strict=true})' --split-input-file | FileCheck %s --check-prefix=STRICT

// Entries share a parameter; what nothing reads is dropped.
// CHECK-NOT: nn.param
// CHECK-LABEL: @first
// CHECK: nn.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-LABEL: @second
// CHECK: %[[C:.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: nn.add %[[C]], %[[C]]
// CHECK-NOT: nn.get_param
nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
nn.param @unread = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @first() -> tensor<2xf32> {
  %0 = nn.get_param @weight : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @second() -> tensor<2xf32> {
  %0 = nn.get_param @weight : tensor<2xf32>
  %1 = nn.get_param @weight : tensor<2xf32>
  %2 = nn.add %0, %1 : tensor<2xf32>, tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// The norm's factor goes into the filter, the rest into one bias per channel.
// CHECK-LABEL: @conv
// CHECK-NOT: nn.batch_norm
// CHECK: %[[F:.*]] = nn.reshape %{{.*}} : tensor<4xf32> to tensor<4x1x1x1xf32>
// CHECK: nn.mul %[[F]], %{{.*}} : tensor<4x1x1x1xf32>, tensor<4x3x1x1xf32>
// CHECK: %[[Y:.*]] = nn.conv %arg0, %{{.*}} : tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>
// CHECK: nn.add %[[Y]], %{{.*}} : tensor<2x4x5x5xf32>, tensor<4x1x1xf32>
// STRICT-LABEL: @conv
// STRICT: nn.batch_norm
func.func @conv(%x: tensor<2x3x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = nn.constant dense<[[[[1.0]], [[2.0]], [[3.0]]], [[[1.0]], [[2.0]], [[3.0]]], [[[1.0]], [[2.0]], [[3.0]]], [[[1.0]], [[2.0]], [[3.0]]]]> : tensor<4x3x1x1xf32>
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>
  %1 = nn.add %0, %b : tensor<2x4x5x5xf32>, tensor<4x1x1xf32>
  %2 = nn.batch_norm %1, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<2x4x5x5xf32>
}

// -----

// Weights of fewer bits than their sums stay as they are: they would be rounded once more.
// CHECK-LABEL: @accumulated
// CHECK: nn.batch_norm
func.func @accumulated(%x: tensor<2x3xbf16>) -> tensor<2x4xf32> {
  %w = nn.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<3x4xbf16>
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.matmul %x, %w {accumulator = f32} : tensor<2x3xbf16>, tensor<3x4xbf16>
  %1 = nn.batch_norm %0, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: @linear
// CHECK-NOT: nn.batch_norm
// CHECK: %[[Y:.*]] = nn.linear %arg0, %{{.*}} : tensor<3x2xf32>, tensor<4x2xf32>
// CHECK: nn.add %[[Y]], %{{.*}} : tensor<3x4xf32>, tensor<4xf32>
func.func @linear(%x: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %w = nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.linear %x, %w, %c : tensor<3x2xf32>, tensor<4x2xf32>, tensor<4xf32>
  %1 = nn.batch_norm %0, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// Grouped: the channels of group g are scaled in the filters of the inputs of group g.
// CHECK-LABEL: @conv_transpose
// CHECK-NOT: nn.batch_norm
// CHECK: nn.reshape %{{.*}} : tensor<4xf32> to tensor<2x1x2x1xf32>
// CHECK: nn.conv_transpose %arg0, %{{.*}} : tensor<1x4x5xf32>, tensor<4x2x3xf32>
func.func @conv_transpose(%x: tensor<1x4x5xf32>) -> tensor<1x4x7xf32> {
  %w = nn.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<4x2x3xf32>
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.conv_transpose %x, %w {groups = 2 : i64, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, output_padding = array<i64: 0>} : tensor<1x4x5xf32>, tensor<4x2x3xf32>
  %1 = nn.batch_norm %0, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<1x4x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<1x4x7xf32>
}

// -----

// Somebody else reads the product, or the statistics are not constant: the norm stays.
// CHECK-LABEL: @shared_product
// CHECK: nn.batch_norm
// CHECK-LABEL: @computed_statistics
// CHECK: nn.batch_norm
func.func @shared_product(%x: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = nn.constant dense<1.0> : tensor<4x2xf32>
  %c = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.linear %x, %w : tensor<3x2xf32>, tensor<4x2xf32>
  %1 = nn.batch_norm %0, %c, %c, %c, %c {epsilon = 1.0e-5 : f64} : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}
func.func @computed_statistics(%x: tensor<3x2xf32>, %m: tensor<4xf32>) -> tensor<3x4xf32> {
  %w = nn.constant dense<1.0> : tensor<4x2xf32>
  %c = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.linear %x, %w : tensor<3x2xf32>, tensor<4x2xf32>
  %1 = nn.batch_norm %0, %c, %c, %m, %c {epsilon = 1.0e-5 : f64} : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// What some function sets is state in all of them.
// CHECK: nn.param @count
// CHECK-NOT: nn.param @weight
// CHECK-LABEL: @step
// CHECK: nn.get_param @count
// CHECK: nn.set_param @count
// CHECK-LABEL: @read
// CHECK: nn.get_param @count
// CHECK-NOT: nn.get_param @weight
nn.param @count = dense<0.0> : tensor<2xf32>
nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @step() {
  %old = nn.get_param @count : tensor<2xf32>
  %w = nn.get_param @weight : tensor<2xf32>
  %r = nn.add %old, %w : tensor<2xf32>, tensor<2xf32>
  nn.set_param @count, %r : tensor<2xf32>
  return
}
func.func @read() -> tensor<2xf32> {
  %c = nn.get_param @count : tensor<2xf32>
  %w = nn.get_param @weight : tensor<2xf32>
  %r = nn.mul %c, %w : tensor<2xf32>, tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// Divisions by constants in front of functions are products, and those by powers of two wherever they stand; but those by
// what has no normal reciprocal, by what is not constant, of integers, and where a step would tell the difference.
// CHECK-LABEL: @divisions
// CHECK-DAG: %[[THIRDS:.*]] = nn.constant dense<[5.000000e-01, 0.333333343]> : tensor<2xf32>
// CHECK-DAG: %[[QUARTER:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[A:.*]] = nn.mul %arg0, %[[QUARTER]] : tensor<3x2xf32>, tensor<f32>
// CHECK: %[[F:.*]] = nn.floor %[[A]]
// CHECK: %[[B:.*]] = nn.mul %[[F]], %[[THIRDS]] : tensor<3x2xf32>, tensor<2xf32>
// CHECK: nn.add %[[B]], %arg0
// CHECK: %[[C:.*]] = nn.div %{{.*}}, %{{.*}} : tensor<3x2xf32>, tensor<2xf32>
// CHECK: %[[D:.*]] = nn.div %[[C]], %arg1
// CHECK: %[[E:.*]] = nn.div %[[D]], %{{.*}} : tensor<3x2xf32>, tensor<2xf32>
// CHECK: nn.floor %[[E]]
// CHECK: nn.div %arg2, %{{.*}} : tensor<2xi32>, tensor<i32>
// STRICT-LABEL: @divisions
// STRICT-COUNT-6: nn.div
func.func @divisions(%x: tensor<3x2xf32>, %y: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<3x2xf32>, tensor<2xi32>) {
  %four = nn.constant dense<4.0> : tensor<f32>
  %some = nn.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %zero = nn.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %seven = nn.constant dense<7> : tensor<i32>
  %0 = nn.div %x, %four : tensor<3x2xf32>, tensor<f32>
  %1 = nn.floor %0 : tensor<3x2xf32>
  %2 = nn.div %1, %some : tensor<3x2xf32>, tensor<2xf32>
  %3 = nn.add %2, %x : tensor<3x2xf32>, tensor<3x2xf32>
  %4 = nn.exp %3 : tensor<3x2xf32>
  %5 = nn.div %4, %zero : tensor<3x2xf32>, tensor<2xf32>
  %6 = nn.div %5, %y : tensor<3x2xf32>, tensor<2xf32>
  %7 = nn.div %6, %some : tensor<3x2xf32>, tensor<2xf32>
  %8 = nn.floor %7 : tensor<3x2xf32>
  %9 = nn.div %i, %seven : tensor<2xi32>, tensor<i32>
  return %8, %9 : tensor<3x2xf32>, tensor<2xi32>
}

// -----

// What is known is folded with the bits that the model gives it.
// CHECK-LABEL: @known_divisions
// CHECK: nn.div
// CHECK-NEXT: nn.mul %arg0
func.func @known_divisions(%x: tensor<2xf32>) -> tensor<2xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %weight = nn.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %size = nn.abs %weight : tensor<2xf32>
  %scale = nn.div %size, %three : tensor<2xf32>, tensor<f32>
  %r = nn.mul %x, %scale : tensor<2xf32>, tensor<2xf32>
  return %r : tensor<2xf32>
}
