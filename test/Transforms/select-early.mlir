// RUN: %sprig-opt %s --sprig-select-early --split-input-file | FileCheck %s

// What nothing else reads is computed for that element alone, residuals too; of attention the keys and values are all
// computed.
// CHECK-LABEL: @block
// CHECK: %[[N:.*]] = nn.layer_norm %arg0, %arg1 axis = 2
// CHECK: %[[Q:.*]] = nn.slice %[[N]] starts = [0, 6, 0] sizes = [2, 1, 8] steps = [1, 1, 1]
// CHECK: %[[S:.*]] = nn.matmul %[[Q]], %[[N]] {transpose_rhs} : tensor<2x1x8xf32>, tensor<2x7x8xf32>
// CHECK: %[[W:.*]] = nn.softmax %[[S]] axis = 2 : tensor<2x1x7xf32>
// CHECK: %[[A:.*]] = nn.matmul %[[W]], %[[N]] : tensor<2x1x7xf32>, tensor<2x7x8xf32>
// CHECK: %[[X:.*]] = nn.slice %arg0 starts = [0, 6, 0] sizes = [2, 1, 8] steps = [1, 1, 1]
// CHECK: %[[Y:.*]] = nn.add %[[X]], %[[A]] : tensor<2x1x8xf32>
// CHECK: %[[F:.*]] = nn.linear %[[Y]], %arg2 : tensor<2x1x8xf32>
// CHECK: %[[G:.*]] = nn.gelu %[[F]] : tensor<2x1x8xf32>
// CHECK: %[[Z:.*]] = nn.add %[[Y]], %[[G]] : tensor<2x1x8xf32>
// CHECK: return %[[Z]]
func.func @block(%x: tensor<2x7x8xf32>, %c: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<2x1x8xf32> {
  %n = nn.layer_norm %x, %c axis = 2 {epsilon = 1.0e-5 : f64} : tensor<2x7x8xf32>, tensor<8xf32>
  %s = nn.matmul %n, %n {transpose_rhs} : tensor<2x7x8xf32>, tensor<2x7x8xf32>
  %p = nn.softmax %s axis = 2 : tensor<2x7x7xf32>
  %a = nn.matmul %p, %n : tensor<2x7x7xf32>, tensor<2x7x8xf32>
  %y = nn.add %x, %a : tensor<2x7x8xf32>, tensor<2x7x8xf32>
  %f = nn.linear %y, %w : tensor<2x7x8xf32>, tensor<8x8xf32>
  %g = nn.gelu %f : tensor<2x7x8xf32>
  %z = nn.add %y, %g : tensor<2x7x8xf32>, tensor<2x7x8xf32>
  %0 = nn.slice %z starts = [0, 6, 0] sizes = [2, 1, 8] steps = [1, 1, 1] : tensor<2x7x8xf32>
  return %0 : tensor<2x1x8xf32>
}

// -----

// Of what is joined along the axis its part; of a part its element; operands that broadcast stay whole.
// CHECK-LABEL: @parts
// CHECK-DAG: %[[B:.*]] = nn.slice %arg1 starts = [2, 0] sizes = [1, 3] steps = [1, 1] : tensor<5x3xf32>
// CHECK-DAG: %[[J:.*]] = nn.add %[[B]], %arg2 : tensor<1x3xf32>, tensor<3xf32>
// CHECK-DAG: %[[P:.*]] = nn.slice %arg1 starts = [3, 0] sizes = [1, 3] steps = [1, 1] : tensor<5x3xf32>
// CHECK-DAG: %[[Q:.*]] = nn.slice %[[P]] starts = [0, 1] sizes = [1, 2] steps = [1, 1] : tensor<1x3xf32>
// CHECK: return %[[J]], %[[Q]]
func.func @parts(%x: tensor<4x3xf32>, %y: tensor<5x3xf32>, %c: tensor<3xf32>) -> (tensor<1x3xf32>, tensor<1x2xf32>) {
  %j = nn.concat %x, %y axis = 0 : tensor<4x3xf32>, tensor<5x3xf32>
  %a = nn.add %j, %c : tensor<9x3xf32>, tensor<3xf32>
  %0 = nn.slice %a starts = [6, 0] sizes = [1, 3] steps = [1, 1] : tensor<9x3xf32>
  %p = nn.slice %y starts = [1, 1] sizes = [3, 2] steps = [1, 1] : tensor<5x3xf32>
  %1 = nn.slice %p starts = [2, 0] sizes = [1, 2] steps = [1, 1] : tensor<3x2xf32>
  return %0, %1 : tensor<1x3xf32>, tensor<1x2xf32>
}

// -----

// Columns of a product are those of its right side, rows of a transposed left side its columns.
// CHECK-LABEL: @products
// CHECK-DAG: %[[R:.*]] = nn.slice %arg1 starts = [3, 0] sizes = [1, 4] steps = [1, 1]
// CHECK-DAG: nn.matmul %arg0, %[[R]] {transpose_rhs} : tensor<2x3x4xf32>, tensor<1x4xf32>
// CHECK-DAG: %[[L:.*]] = nn.slice %arg2 starts = [0, 1] sizes = [4, 1] steps = [1, 1]
// CHECK-DAG: nn.matmul %[[L]], %arg3 {transpose_lhs} : tensor<4x1xf32>, tensor<4x6xf32>
// CHECK-DAG: %[[S:.*]] = nn.slice %arg0 starts = [1, 0, 0] sizes = [1, 3, 4] steps = [1, 1, 1]
// CHECK-DAG: nn.matmul %[[S]], %arg3 : tensor<1x3x4xf32>, tensor<4x6xf32>
func.func @products(%x: tensor<2x3x4xf32>, %y: tensor<5x4xf32>, %l: tensor<4x5xf32>, %r: tensor<4x6xf32>) -> (tensor<2x3x1xf32>, tensor<1x6xf32>, tensor<1x3x6xf32>) {
  %0 = nn.matmul %x, %y {transpose_rhs} : tensor<2x3x4xf32>, tensor<5x4xf32>
  %1 = nn.slice %0 starts = [0, 0, 3] sizes = [2, 3, 1] steps = [1, 1, 1] : tensor<2x3x5xf32>
  %2 = nn.matmul %l, %r {transpose_lhs} : tensor<4x5xf32>, tensor<4x6xf32>
  %3 = nn.slice %2 starts = [1, 0] sizes = [1, 6] steps = [1, 1] : tensor<5x6xf32>
  %4 = nn.matmul %x, %r : tensor<2x3x4xf32>, tensor<4x6xf32>
  %5 = nn.slice %4 starts = [1, 0, 0] sizes = [1, 3, 6] steps = [1, 1, 1] : tensor<2x3x6xf32>
  return %1, %3, %5 : tensor<2x3x1xf32>, tensor<1x6xf32>, tensor<1x3x6xf32>
}

// -----

// What something else reads too, what is normalised along the axis, and what is checked where it is computed, stay whole.
// CHECK-LABEL: @whole
// CHECK: %[[E:.*]] = nn.exp %arg0
// CHECK: nn.slice %[[E]]
// CHECK: %[[S:.*]] = nn.softmax %arg0 axis = 0
// CHECK: nn.slice %[[S]]
// CHECK: %[[D:.*]] = nn.div %arg1, %arg1
// CHECK: nn.slice %[[D]]
func.func @whole(%x: tensor<4x3xf32>, %i: tensor<4x3xi32>) -> (tensor<4x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi32>) {
  %0 = nn.exp %x : tensor<4x3xf32>
  %1 = nn.slice %0 starts = [1, 0] sizes = [1, 3] steps = [1, 1] : tensor<4x3xf32>
  %2 = nn.softmax %x axis = 0 : tensor<4x3xf32>
  %3 = nn.slice %2 starts = [1, 0] sizes = [1, 3] steps = [1, 1] : tensor<4x3xf32>
  %4 = nn.div %i, %i : tensor<4x3xi32>, tensor<4x3xi32>
  %5 = nn.slice %4 starts = [1, 0] sizes = [1, 3] steps = [1, 1] : tensor<4x3xi32>
  return %0, %1, %3, %5 : tensor<4x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi32>
}

// -----

// The dimension rule says what one element needs, of composites and of linear's columns too.
// CHECK-LABEL: @rules
// CHECK-DAG: %[[X:.*]] = nn.slice %arg0 starts = [0, 3, 0] sizes = [2, 1, 4] steps = [1, 1, 1]
// CHECK-DAG: nn.reduce_mean %[[X]] axes = [2] : tensor<2x1x4xf32>
// CHECK-DAG: %[[W:.*]] = nn.slice %arg1 starts = [5, 0] sizes = [1, 4] steps = [1, 1]
// CHECK-DAG: %[[B:.*]] = nn.slice %arg2 starts = [5] sizes = [1] steps = [1]
// CHECK-DAG: nn.linear %arg0, %[[W]], %[[B]] : tensor<2x5x4xf32>, tensor<1x4xf32>, tensor<1xf32>
// CHECK-DAG: %[[M:.*]] = nn.slice %arg0 starts = [0, 0, 2] sizes = [2, 5, 1] steps = [1, 1, 1]
// CHECK-DAG: nn.reduce max %[[M]] axes = [1] : tensor<2x5x1xf32>
func.func @rules(%x: tensor<2x5x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) -> (tensor<2x1xf32>, tensor<2x5x1xf32>, tensor<2x1xf32>) {
  %m = nn.reduce_mean %x axes = [2] : tensor<2x5x4xf32>
  %0 = nn.slice %m starts = [0, 3] sizes = [2, 1] steps = [1, 1] : tensor<2x5xf32>
  %l = nn.linear %x, %w, %b : tensor<2x5x4xf32>, tensor<6x4xf32>, tensor<6xf32>
  %1 = nn.slice %l starts = [0, 0, 5] sizes = [2, 5, 1] steps = [1, 1, 1] : tensor<2x5x6xf32>
  %n = nn.reduce max %x axes = [1] : tensor<2x5x4xf32>
  %2 = nn.slice %n starts = [0, 2] sizes = [2, 1] steps = [1, 1] : tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x1xf32>, tensor<2x5x1xf32>, tensor<2x1xf32>
}

// -----

// Bits that depend on how much is computed stay: those of convolutions, of sums over samples, of columns on GPUs, also
// within a composite. So do windows, which read convolutions.
// CHECK-LABEL: @bits
// CHECK: %[[V:.*]] = nn.conv %arg0, %arg1
// CHECK: nn.slice %[[V]]
// CHECK: %[[S:.*]] = nn.reduce sum %arg0 axes = [0, 3]
// CHECK: nn.slice %[[S]]
// CHECK: %[[C:.*]] = nn.reduce_mean %arg0 axes = [2]
// CHECK: nn.slice %[[C]]
// CHECK: %[[P:.*]] = nn.pool max %arg0
// CHECK: nn.slice %[[P]]
func.func @bits(%x: tensor<2x3x8x8xf32>, %f: tensor<4x3x3x3xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x8xf32>, tensor<1x3x8xf32>, tensor<1x3x4x4xf32>) {
  %v = nn.conv %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>
  %0 = nn.slice %v starts = [1, 0, 0, 0] sizes = [1, 4, 6, 6] steps = [1, 1, 1, 1] : tensor<2x4x6x6xf32>
  %s = nn.reduce sum %x axes = [0, 3] : tensor<2x3x8x8xf32>
  %1 = nn.slice %s starts = [2, 0] sizes = [1, 8] steps = [1, 1] : tensor<3x8xf32>
  %c = nn.reduce_mean %x axes = [2] : tensor<2x3x8x8xf32>
  %2 = nn.slice %c starts = [1, 0, 0] sizes = [1, 3, 8] steps = [1, 1, 1] : tensor<2x3x8xf32>
  %p = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x3x8x8xf32>
  %3 = nn.slice %p starts = [1, 0, 0, 0] sizes = [1, 3, 4, 4] steps = [1, 1, 1, 1] : tensor<2x3x4x4xf32>
  return %0, %1, %2, %3 : tensor<1x4x6x6xf32>, tensor<1x8xf32>, tensor<1x3x8xf32>, tensor<1x3x4x4xf32>
}

// -----

// What checks its indices or, inside a composite, its values, does so everywhere.
// CHECK-LABEL: @checked
// CHECK: %[[G:.*]] = nn.gather %arg0, %arg1
// CHECK: nn.slice %[[G]]
// CHECK: %[[L:.*]] = nn.bce_loss none %arg2, %arg2
// CHECK: nn.slice %[[L]]
func.func @checked(%x: tensor<9x6xf32>, %i: tensor<4xi64>, %p: tensor<4x5xf32>) -> (tensor<1x6xf32>, tensor<1x5xf32>) {
  %g = nn.gather %x, %i axis = 0 : tensor<9x6xf32>, tensor<4xi64>
  %0 = nn.slice %g starts = [2, 0] sizes = [1, 6] steps = [1, 1] : tensor<4x6xf32>
  %l = nn.bce_loss none %p, %p : tensor<4x5xf32>, tensor<4x5xf32>
  %1 = nn.slice %l starts = [2, 0] sizes = [1, 5] steps = [1, 1] : tensor<4x5xf32>
  return %0, %1 : tensor<1x6xf32>, tensor<1x5xf32>
}
