// RUN: %sprig-opt %s --split-input-file --sprig-decompose --sprig-independent-samples | FileCheck %s

// Contractions with constants, bias, activations, reductions over other axes.
// CHECK: func.func @mlp({{.*}} attributes {nn.independent_samples}
func.func @mlp(%x: tensor<8x4xf32>, %w: tensor<8x3xf32>) -> tensor<8x5xf32> {
  %k = nn.constant dense<0.5> : tensor<4x5xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %s = nn.reduce sum %w axes = [1] {keep_dims} : tensor<8x3xf32>
  %0 = nn.matmul %x, %k : tensor<8x4xf32>, tensor<4x5xf32>
  %1 = nn.add %0, %b : tensor<8x5xf32>, tensor<5xf32>
  %2 = nn.mul %1, %s : tensor<8x5xf32>, tensor<8x1xf32>
  %3 = nn.softmax %2 axis = 1 : tensor<8x5xf32>
  return %3 : tensor<8x5xf32>
}

// -----

// CHECK: func.func @convolution({{.*}} attributes {nn.independent_samples}
func.func @convolution(%x: tensor<2x3x8x8xf32>) -> tensor<2x16xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3x3x3xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 1, 1>} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>
  %1 = nn.pool max %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x4x4x4xf32>
  %2 = nn.transpose %1 [2, 0, 3, 1] : tensor<2x4x2x2xf32>
  %3 = nn.transpose %2 [1, 3, 0, 2] : tensor<2x2x2x4xf32>
  %4 = nn.reshape %3 : tensor<2x4x2x2xf32> to tensor<2x16xf32>
  return %4 : tensor<2x16xf32>
}

// -----

// Embedding, attention over a sequence, batched products.
// CHECK: func.func @attention({{.*}} attributes {nn.independent_samples}
func.func @attention(%ids: tensor<2x6xi64>) -> tensor<2x6x4xf32> {
  %table = nn.constant dense<0.5> : tensor<10x4xf32>
  %positions = nn.iota axis = 0 : tensor<6x4xf32>
  %0 = nn.gather %table, %ids axis = 0 : tensor<10x4xf32>, tensor<2x6xi64>
  %1 = nn.add %0, %positions : tensor<2x6x4xf32>, tensor<6x4xf32>
  %2 = nn.matmul %1, %1 {transpose_rhs} : tensor<2x6x4xf32>, tensor<2x6x4xf32>
  %3 = nn.softmax %2 axis = 2 : tensor<2x6x6xf32>
  %4 = nn.matmul %3, %1 : tensor<2x6x6xf32>, tensor<2x6x4xf32>
  return %4 : tensor<2x6x4xf32>
}

// -----

// Shapes in between that hold the samples elsewhere.
// CHECK: func.func @moves({{.*}} attributes {nn.independent_samples}
func.func @moves(%x: tensor<4x6xf32>) -> tensor<4x8xf32> {
  %v = nn.constant dense<0.0> : tensor<f32>
  %z = nn.constant dense<0.0> : tensor<4x2xf32>
  %0 = nn.slice %x starts = [0, 2] sizes = [4, 3] steps = [1, 1] : tensor<4x6xf32>
  %1 = nn.pad constant %0, %v low = [0, 1] high = [0, 2] : tensor<4x3xf32>, tensor<f32>
  %2 = nn.concat %1, %z axis = 1 : tensor<4x6xf32>, tensor<4x2xf32>
  %3 = nn.reshape %2 : tensor<4x8xf32> to tensor<1x4x2x4xf32>
  %4 = nn.cumulative sum %3 axis = 3 : tensor<1x4x2x4xf32>
  %5 = nn.reshape %4 : tensor<1x4x2x4xf32> to tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// A sum over the samples.
// CHECK: func.func @reduces(
// CHECK-NOT: nn.independent_samples
func.func @reduces(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = nn.reduce sum %x axes = [0] {keep_dims} : tensor<4x6xf32>
  %1 = nn.sub %x, %0 : tensor<4x6xf32>, tensor<1x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// A constant that treats samples differently.
// CHECK: func.func @weights(
// CHECK-NOT: nn.independent_samples
func.func @weights(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %k = nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = nn.mul %x, %k : tensor<2x1xf32>, tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// Samples in another order.
// CHECK: func.func @reverses(
// CHECK-NOT: nn.independent_samples
func.func @reverses(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = nn.slice %x starts = [2, 0] sizes = [3, 2] steps = [-1, 1] : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Every sample against every other.
// CHECK: func.func @gram(
// CHECK-NOT: nn.independent_samples
func.func @gram(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = nn.matmul %x, %x {transpose_rhs} : tensor<3x3xf32>, tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// A transposed square: the axis is not the first any more.
// CHECK: func.func @turned(
// CHECK-NOT: nn.independent_samples
func.func @turned(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = nn.transpose %x [1, 0] : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// Inputs of other sizes are no samples.
// CHECK: func.func @pairs(
// CHECK-NOT: nn.independent_samples
func.func @pairs(%x: tensor<3x2xf32>, %y: tensor<1x2xf32>) -> tensor<3x2xf32> {
  %0 = nn.add %x, %y : tensor<3x2xf32>, tensor<1x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// With one sample the axis looks like any other: the larger entry decides for both.
// CHECK: func.func @main_1(
// CHECK-NOT: nn.independent_samples
// CHECK: func.func @main_2(
// CHECK-NOT: nn.independent_samples
func.func @main_1(%x: tensor<1x2xf32>) -> tensor<1x2xf32> attributes {nn.entry = "main"} {
  %k = nn.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %0 = nn.mul %x, %k : tensor<1x2xf32>, tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func @main_2(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {nn.entry = "main"} {
  %k = nn.constant dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.mul %x, %k : tensor<2x2xf32>, tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A recurrent layer goes through time with each sample on its own, wherever the model puts the samples; a state that
// starts the same for all is theirs from the first step on.
// CHECK: func.func @recurrent({{.*}} attributes {nn.independent_samples}
func.func @recurrent(%x: tensor<8x5x3xf32>, %l: tensor<8xi64>) -> (tensor<8x5x4xf32>, tensor<8x4xf32>) {
  %w = nn.constant dense<0.5> : tensor<16x3xf32>
  %r = nn.constant dense<0.25> : tensor<16x4xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<32xf32>
  %z = nn.constant dense<0.0> : tensor<8x4xf32>
  %t = nn.transpose %x [1, 0, 2] : tensor<8x5x3xf32>
  %y, %h, %c = nn.lstm %t, %w, %r from %z, %z bias %b lengths %l : tensor<5x8x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<32xf32>, tensor<8xi64>
  %u = nn.transpose %y [1, 0, 2] : tensor<5x8x4xf32>
  return %u, %c : tensor<8x5x4xf32>, tensor<8x4xf32>
}

// -----

// Ranks meet as often as the program says, so a batch is not split.
dist.mesh @mesh ["data"] [2]
// CHECK: func.func @ranks({{[^{]*}}) -> tensor<8x4xf32> {
func.func @ranks(%x: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = nn.constant dense<0.5> : tensor<4xf32>
  %sum = dist.all_reduce sum %c on @mesh ["data"] : tensor<4xf32>
  %y = nn.mul %x, %w : tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Time is no axis of samples, and rows that start differently are not alike.
// CHECK: func.func @time({{[^{]*}}) -> tensor<5x8x4xf32> {
func.func @time(%x: tensor<5x8x3xf32>) -> tensor<5x8x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3xf32>
  %r = nn.constant dense<0.25> : tensor<4x4xf32>
  %z = nn.constant dense<0.0> : tensor<8x4xf32>
  %y, %h = nn.rnn %x, %w, %r from %z : tensor<5x8x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<8x4xf32>
  return %y : tensor<5x8x4xf32>
}
// CHECK: func.func @start({{[^{]*}}) -> tensor<2x4xf32> {
func.func @start(%x: tensor<2x5x3xf32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3xf32>
  %r = nn.constant dense<0.25> : tensor<4x4xf32>
  %z = nn.constant dense<[[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %t = nn.transpose %x [1, 0, 2] : tensor<2x5x3xf32>
  %y, %h = nn.rnn %t, %w, %r from %z : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<2x4xf32>
  return %h : tensor<2x4xf32>
}
