// RUN: sprig-opt %s --sprig-layout --canonicalize --split-input-file | FileCheck %s

// Transposes stay at the borders alone: constants per channel and the residual's other operand move with them.
// CHECK-LABEL: func.func @between
// CHECK: %[[X:.*]] = nn.transpose %arg0 [0, 2, 3, 1]
// CHECK: %[[A:.*]] = nn.conv %[[X]], {{.*}}channels_last
// CHECK: %[[B:.*]] = nn.add %[[A]], {{.*}} : tensor<2x5x6x4xf32>, tensor<1x1x1x4xf32>
// CHECK: %[[C:.*]] = nn.relu %[[B]]
// CHECK: %[[D:.*]] = nn.conv %[[C]], {{.*}}channels_last
// CHECK: %[[E:.*]] = nn.add %[[D]], %[[C]]
// CHECK: %[[F:.*]] = nn.pool max %[[E]] {channels_last
// CHECK: %[[G:.*]] = nn.transpose %[[F]] [0, 3, 1, 2]
// CHECK-NOT: nn.transpose
// CHECK: return %[[G]] : tensor<2x4x4x5xf32>
func.func @between(%x: tensor<2x3x5x6xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x3x3xf32>) -> tensor<2x4x4x5xf32> {
  %bias = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
      : tensor<2x3x5x6xf32>, tensor<4x3x3x3xf32>
  %1 = nn.add %0, %bias : tensor<2x4x5x6xf32>, tensor<4x1x1xf32>
  %2 = nn.relu %1 : tensor<2x4x5x6xf32>
  %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
      : tensor<2x4x5x6xf32>, tensor<4x4x3x3xf32>
  %4 = nn.add %3, %2 : tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>
  %5 = nn.pool max %4 {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
      : tensor<2x4x5x6xf32>
  return %5 : tensor<2x4x4x5xf32>
}

// -----

// One channel: nothing moves in memory.
// CHECK-LABEL: func.func @one_channel
// CHECK: nn.reshape %arg0 : tensor<2x1x5x6xf32> to tensor<2x5x6x1xf32>
// CHECK: nn.conv
// CHECK: nn.reshape
// CHECK-NOT: nn.transpose
func.func @one_channel(%x: tensor<2x1x5x6xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<2x1x3x4xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
      : tensor<2x1x5x6xf32>, tensor<1x1x3x3xf32>
  return %0 : tensor<2x1x3x4xf32>
}

// -----

// The weight after a flatten is reordered instead of the features.
// CHECK-LABEL: func.func @flatten
// CHECK: nn.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00, 1.000000e+00, 4.000000e+00, 2.000000e+00, 5.000000e+00]]>
// CHECK: %[[P:.*]] = nn.pool
// CHECK: %[[R:.*]] = nn.relu %[[P]]
// CHECK: %[[F:.*]] = nn.reshape %[[R]] : tensor<7x3x2xf32> to tensor<7x6xf32>
// CHECK: nn.matmul %[[F]], {{.*}} {transpose_rhs}
func.func @flatten(%x: tensor<7x2x4xf32>) -> tensor<7x1xf32> {
  %w = nn.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x6xf32>
  %0 = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<7x2x4xf32>
  %1 = nn.reshape %0 : tensor<7x2x3xf32> to tensor<7x6xf32>
  %2 = nn.relu %1 : tensor<7x6xf32>
  %3 = nn.matmul %2, %w {transpose_rhs} : tensor<7x6xf32>, tensor<1x6xf32>
  return %3 : tensor<7x1xf32>
}

// -----

// Concatenation, pad, slice and reduction change their axes.
// CHECK-LABEL: func.func @axes
// CHECK: nn.concat {{.*}} axis = 3
// CHECK: nn.pad constant {{.*}} low = [0, 1, 0, 0] high = [0, 0, 0, 0]
// CHECK: nn.slice {{.*}} starts = [0, 0, 0, 1] sizes = [1, 4, 3, 5]
// CHECK: nn.reduce sum {{.*}} axes = [1, 2]
func.func @axes(%x: tensor<1x3x3x3xf32>) -> tensor<1x5xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.pool max %x {window = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x3x3xf32>
  %1 = nn.concat %0, %0 axis = 1 : tensor<1x3x3x3xf32>, tensor<1x3x3x3xf32>
  %2 = nn.pad constant %1, %zero low = [0, 0, 1, 0] high = [0, 0, 0, 0] : tensor<1x6x3x3xf32>, tensor<f32>
  %3 = nn.slice %2 starts = [0, 1, 0, 0] sizes = [1, 5, 4, 3] steps = [1, 1, 1, 1] : tensor<1x6x4x3xf32>
  %4 = nn.reduce sum %3 axes = [2, 3] : tensor<1x5x4x3xf32>
  return %4 : tensor<1x5xf32>
}

// -----

// An operand that would have to be transposed at run time holds the transposes where they are.
// CHECK-LABEL: func.func @stays
// CHECK: %[[P:.*]] = nn.pool max
// CHECK: %[[T:.*]] = nn.transpose %[[P]] [0, 2, 1]
// CHECK: nn.add %[[T]], %arg1
func.func @stays(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.pool max %x {window = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<2x3x4xf32>
  %1 = nn.add %0, %y : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// The transpose of a matrix becomes a flag of the product.
// CHECK-LABEL: func.func @matrix
// CHECK: nn.matmul %arg0, %arg1 {transpose_rhs}
func.func @matrix(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = nn.transpose %y [0, 2, 1] : tensor<2x5x4xf32>
  %1 = nn.matmul %x, %0 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// -----

// A transposed convolution with strides is a convolution for each phase, with the taps that reach it, turned round.
// CHECK-LABEL: func.func @phases
// CHECK-NOT: nn.pad
// CHECK: nn.slice %arg1 starts = [0, 0, 1] sizes = [2, 3, 1] steps = [1, 1, 1]
// CHECK: nn.conv {{.*}}channels_last{{.*}}padding = array<i64: 0, 0>{{.*}}strides = array<i64: 1>
// CHECK: nn.slice {{.*}} sizes = [3, 2, 2] steps = [1, 1, -2]
// CHECK: nn.conv {{.*}}channels_last{{.*}}padding = array<i64: 0, 1>{{.*}}strides = array<i64: 1>
// CHECK: nn.concat
// CHECK-NOT: nn.conv_transpose
func.func @phases(%x: tensor<1x2x4xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x3x8xf32> {
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, output_padding = array<i64: 1>}
      : tensor<1x2x4xf32>, tensor<2x3x3xf32>
  return %0 : tensor<1x3x8xf32>
}

// -----

// Many phases: the input is spread out by zeros instead.
// CHECK-LABEL: func.func @spread
// CHECK: nn.pad constant
// CHECK: nn.conv {{.*}}channels_last
// CHECK-NOT: nn.conv_transpose
func.func @spread(%x: tensor<1x2x4xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x3x54xf32> {
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 17>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, output_padding = array<i64: 0>}
      : tensor<1x2x4xf32>, tensor<2x3x3xf32>
  return %0 : tensor<1x3x54xf32>
}

// -----

// A gradient that is repeated over the positions moves without them.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[G:.*]] = nn.broadcast %{{.*}} : tensor<2x1x1x4xf32> to tensor<2x6x6x4xf32>
// CHECK: nn.mul %{{.*}}, %[[G]] : tensor<2x6x6x4xf32>
// CHECK: nn.transpose
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @repeated(%x: tensor<2x6x6x3xf32>, %w: tensor<4x3x1x1xf32>, %g: tensor<2x4x1x1xf32>) -> tensor<2x4x6x6xf32> {
  %0 = nn.conv %x, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
      : tensor<2x6x6x3xf32>, tensor<4x3x1x1xf32>
  %1 = nn.transpose %0 [0, 3, 1, 2] : tensor<2x6x6x4xf32>
  %2 = nn.broadcast %g : tensor<2x4x1x1xf32> to tensor<2x4x6x6xf32>
  %3 = nn.mul %1, %2 : tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>
  return %3 : tensor<2x4x6x6xf32>
}

// -----

// A pad of zeros around the spatial dimensions is padding of the convolution; one of channels is not.
// CHECK-LABEL: @pad_into_conv(
// CHECK-NOT: nn.pad
// CHECK: nn.conv {{.*}} padding = array<i64: 2, 1, 1, 3>
// CHECK: nn.pad
// CHECK: nn.conv
func.func @pad_into_conv(%x: tensor<1x4x6x6xf32>, %w: tensor<8x4x3x3xf32>, %v: tensor<8x5x3x3xf32>) -> (tensor<1x8x7x8xf32>, tensor<1x8x6x6xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %p = nn.pad constant %x, %zero low = [0, 0, 1, 0] high = [0, 0, 0, 2] : tensor<1x4x6x6xf32>, tensor<f32>
  %r = nn.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x4x7x8xf32>, tensor<8x4x3x3xf32>
  %q = nn.pad constant %x, %zero low = [0, 1, 0, 0] high = [0, 0, 0, 0] : tensor<1x4x6x6xf32>, tensor<f32>
  %s = nn.conv %q, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x5x6x6xf32>, tensor<8x5x3x3xf32>
  return %r, %s : tensor<1x8x7x8xf32>, tensor<1x8x6x6xf32>
}

// -----

// Products along a mixer's tokens: the weights are turned, the tokens stay where they are.
// CHECK-LABEL: func.func @tokens
// CHECK-SAME:      (%[[X:.*]]: tensor<2x20x24xf32>)
// CHECK-NOT:     nn.transpose
// CHECK:         nn.matmul %{{.*}}, %[[X]] : tensor<32x20xf32>, tensor<2x20x24xf32>
// CHECK:         nn.add {{.*}} : tensor<2x32x24xf32>, tensor<1x32x1xf32>
// CHECK:         nn.matmul {{.*}} : tensor<20x32xf32>, tensor<2x32x24xf32>
// CHECK-NOT:     nn.transpose
// CHECK:         return
func.func @tokens(%x: tensor<2x20x24xf32>) -> tensor<2x20x24xf32> {
  %w0 = nn.constant dense<0.5> : tensor<20x32xf32>
  %b0 = nn.constant dense<0.25> : tensor<32xf32>
  %w1 = nn.constant dense<0.75> : tensor<20x32xf32>
  %0 = nn.transpose %x [0, 2, 1] : tensor<2x20x24xf32>
  %1 = nn.matmul %0, %w0 : tensor<2x24x20xf32>, tensor<20x32xf32>
  %2 = nn.add %1, %b0 : tensor<2x24x32xf32>, tensor<32xf32>
  %3 = nn.relu %2 : tensor<2x24x32xf32>
  %4 = nn.matmul %3, %w1 {transpose_rhs} : tensor<2x24x32xf32>, tensor<20x32xf32>
  %5 = nn.transpose %4 [0, 2, 1] : tensor<2x24x20xf32>
  %6 = nn.add %5, %x : tensor<2x20x24xf32>, tensor<2x20x24xf32>
  return %6 : tensor<2x20x24xf32>
}

// -----

// Where nothing turns the result back, the operand is turned.
// CHECK-LABEL: func.func @tokens_stay
// CHECK:         %[[T:.*]] = nn.transpose %arg0 [0, 2, 1]
// CHECK:         nn.matmul %[[T]]
func.func @tokens_stay(%x: tensor<2x20x24xf32>) -> tensor<2x24x32xf32> {
  %w0 = nn.constant dense<1.0> : tensor<20x32xf32>
  %0 = nn.transpose %x [0, 2, 1] : tensor<2x20x24xf32>
  %1 = nn.matmul %0, %w0 : tensor<2x24x20xf32>, tensor<20x32xf32>
  return %1 : tensor<2x24x32xf32>
}

// -----

// The backward pass of a convolution and a pool stays channels-last: the transposes between its gradients cancel.
// CHECK-LABEL: func.func @backward
// CHECK: %[[X:.*]] = nn.transpose %arg0 [0, 2, 3, 1]
// CHECK: %[[Y:.*]] = nn.conv %[[X]], %arg1 {channels_last
// CHECK: %[[P:.*]] = nn.transpose %arg2 [0, 2, 3, 1]
// CHECK: %[[G:.*]] = nn.pool_grad {{.*}}max %[[Y]], %[[P]] {channels_last
// CHECK: %[[Z:.*]] = nn.transpose %arg0 [0, 2, 3, 1]
// CHECK: %[[F:.*]] = nn.conv_filter_grad %[[Z]], %[[G]] {channels_last{{.*}} : tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>
// CHECK-NOT: nn.transpose
// CHECK: return %[[F]] : tensor<4x3x3x3xf32>
func.func @backward(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %p: tensor<2x4x4x4xf32>) -> tensor<4x3x3x3xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
      : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>
  %1 = nn.pool_grad max %0, %p {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
      : tensor<2x4x8x8xf32>, tensor<2x4x4x4xf32>
  %2 = nn.conv_filter_grad %x, %1 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
      : tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>
  return %2 : tensor<4x3x3x3xf32>
}

// -----

// A sum keeps the order of its elements: partial accumulators by the width, which was innermost; none for a width of one
// element, for a maximum or for integers.
// CHECK-LABEL: func.func @order
// CHECK: nn.reduce sum {{.*}} axes = [0, 1, 2] {nn.partials}
// CHECK: nn.reduce max {{.*}} axes = [0, 1, 2] :
// CHECK: nn.reduce sum {{.*}} axes = [0, 1] :
func.func @order(%x: tensor<2x3x4x5xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x5xf32>) {
  %0 = nn.pool max %x {window = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x4x5xf32>
  %1 = nn.reduce sum %0 axes = [0, 2, 3] : tensor<2x3x4x5xf32>
  %2 = nn.reduce max %0 axes = [0, 2, 3] : tensor<2x3x4x5xf32>
  %3 = nn.reduce sum %0 axes = [0, 2] : tensor<2x3x4x5xf32>
  return %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3x5xf32>
}

// -----

// What is added for each pixel times each channel is computed in the convolution's own order.
// CHECK-LABEL: func.func @outer_product(
// CHECK: %[[C:.*]] = nn.conv {{.*}}channels_last
// CHECK: %[[M:.*]] = nn.mul %{{.*}}, %{{.*}} : tensor<1x4x4x1xf32>, tensor<1x1x1x2xf32>
// CHECK: %[[S:.*]] = nn.add %[[C]], %[[M]] : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
// CHECK: nn.transpose %[[S]]
func.func @outer_product(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>, %s: tensor<1x1x4x4xf32>, %c: tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>
  %m = nn.mul %s, %c : tensor<1x1x4x4xf32>, tensor<2x1x1xf32>
  %r = nn.add %y, %m : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}
