// RUN: %sprig-opt %s --canonicalize --split-input-file | FileCheck %s

// A known element is a slice, taken in front of what only moves it; one out of range is told at run time.
// CHECK-LABEL: @gathers
// CHECK: %[[S:.*]] = nn.slice %arg0 starts = [4, 0, 0] sizes = [1, 3, 6] steps = [1, 1, 1]
// CHECK: %[[T:.*]] = nn.transpose %[[S]] [1, 0, 2]
// CHECK: %[[R:.*]] = nn.reshape %[[T]] : tensor<3x1x6xf32> to tensor<3x6xf32>
// CHECK: %[[O:.*]] = nn.gather
// CHECK: return %[[R]], %[[O]]
func.func @gathers(%x: tensor<5x3x6xf32>) -> (tensor<3x6xf32>, tensor<3x1x6xf32>) {
  %last = nn.constant dense<-1> : tensor<i64>
  %beyond = nn.constant dense<5> : tensor<1xi64>
  %0 = nn.transpose %x [1, 0, 2] : tensor<5x3x6xf32>
  %1 = nn.gather %0, %last axis = 1 : tensor<3x5x6xf32>, tensor<i64>
  %2 = nn.gather %0, %beyond axis = 1 : tensor<3x5x6xf32>, tensor<1xi64>
  return %1, %2 : tensor<3x6xf32>, tensor<3x1x6xf32>
}

// -----

// Of a reshape that keeps the axis; not of one that joins it with others, nor what takes several elements.
// CHECK-LABEL: @reshapes
// CHECK: %[[S:.*]] = nn.slice %arg0 starts = [0, 2, 0] sizes = [4, 1, 6] steps = [1, 1, 1]
// CHECK: %[[R:.*]] = nn.reshape %[[S]] : tensor<4x1x6xf32> to tensor<4x1x1x6xf32>
// CHECK: %[[J:.*]] = nn.reshape %arg0 : tensor<4x5x6xf32> to tensor<20x6xf32>
// CHECK: %[[A:.*]] = nn.slice %[[J]]
// CHECK: %[[M:.*]] = nn.transpose %arg0
// CHECK: %[[B:.*]] = nn.slice %[[M]]
// CHECK: %[[H:.*]] = nn.slice %arg0 starts = [0, 2, 0] sizes = [4, 1, 6] steps = [1, 1, 1]
// CHECK: %[[C:.*]] = nn.reshape %[[H]] : tensor<4x1x6xf32> to tensor<2x2x1x3x2xf32>
// CHECK: return %[[R]], %[[A]], %[[B]], %[[C]]
func.func @reshapes(%x: tensor<4x5x6xf32>) -> (tensor<4x1x1x6xf32>, tensor<1x6xf32>, tensor<2x5x4xf32>, tensor<2x2x1x3x2xf32>) {
  %0 = nn.reshape %x : tensor<4x5x6xf32> to tensor<4x1x5x6xf32>
  %1 = nn.slice %0 starts = [0, 0, 2, 0] sizes = [4, 1, 1, 6] steps = [1, 1, 1, 1] : tensor<4x1x5x6xf32>
  %2 = nn.reshape %x : tensor<4x5x6xf32> to tensor<20x6xf32>
  %3 = nn.slice %2 starts = [7, 0] sizes = [1, 6] steps = [1, 1] : tensor<20x6xf32>
  %4 = nn.transpose %x [2, 1, 0] : tensor<4x5x6xf32>
  %5 = nn.slice %4 starts = [1, 0, 0] sizes = [2, 5, 4] steps = [1, 1, 1] : tensor<6x5x4xf32>
  %6 = nn.reshape %x : tensor<4x5x6xf32> to tensor<2x2x5x3x2xf32>
  %7 = nn.slice %6 starts = [0, 0, 2, 0, 0] sizes = [2, 2, 1, 3, 2] steps = [1, 1, 1, 1, 1] : tensor<2x2x5x3x2xf32>
  return %1, %3, %5, %7 : tensor<4x1x1x6xf32>, tensor<1x6xf32>, tensor<2x5x4xf32>, tensor<2x2x1x3x2xf32>
}

// -----

// A slice that turns another axis around is no selection.
// CHECK-LABEL: @turns
// CHECK: %[[T:.*]] = nn.transpose
// CHECK: nn.slice %[[T]]
func.func @turns(%x: tensor<4x5xf32>) -> tensor<1x4xf32> {
  %0 = nn.transpose %x [1, 0] : tensor<4x5xf32>
  %1 = nn.slice %0 starts = [1, 3] sizes = [1, 4] steps = [1, -1] : tensor<5x4xf32>
  return %1 : tensor<1x4xf32>
}

// -----

// The last step of a layer is what it ends with, backwards the first; with lengths it may be zeros.
// CHECK-LABEL: @layers
// CHECK: %{{.*}}, %[[F:.*]] = nn.gru %arg0, %arg1, %arg2 from %arg3 : tensor<5x2x3xf32>
// CHECK: %{{.*}}, %[[B:.*]] = nn.gru %arg0, %arg1, %arg2 from %arg3 {reverse}
// CHECK: %[[L:.*]], %{{.*}} = nn.gru %arg0, %arg1, %arg2 from %arg3 lengths %arg4
// CHECK-DAG: %[[F1:.*]] = nn.reshape %[[F]] : tensor<2x4xf32> to tensor<1x2x4xf32>
// CHECK-DAG: %[[B1:.*]] = nn.reshape %[[B]] : tensor<2x4xf32> to tensor<1x2x4xf32>
// CHECK-DAG: %[[B2:.*]] = nn.slice %{{.*}} starts = [4, 0, 0]
// CHECK-DAG: %[[L1:.*]] = nn.slice %[[L]] starts = [4, 0, 0]
// CHECK: return %[[F1]], %[[B1]], %[[B2]], %[[L1]]
func.func @layers(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>, %n: tensor<2xi64>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %f, %fh = nn.gru %x, %w, %r from %h : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  %b, %bh = nn.gru %x, %w, %r from %h {reverse} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  %l, %lh = nn.gru %x, %w, %r from %h lengths %n : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>, tensor<2xi64>
  %0 = nn.slice %f starts = [4, 0, 0] sizes = [1, 2, 4] steps = [1, 1, 1] : tensor<5x2x4xf32>
  %1 = nn.slice %b starts = [0, 0, 0] sizes = [1, 2, 4] steps = [1, 1, 1] : tensor<5x2x4xf32>
  %2 = nn.slice %b starts = [4, 0, 0] sizes = [1, 2, 4] steps = [1, 1, 1] : tensor<5x2x4xf32>
  %3 = nn.slice %l starts = [4, 0, 0] sizes = [1, 2, 4] steps = [1, 1, 1] : tensor<5x2x4xf32>
  return %0, %1, %2, %3 : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

// So is that of a loop where its output is what it carries, and what nobody reads is not stacked.
// CHECK-LABEL: @loops
// CHECK: %[[L:.*]] = nn.scan steps = 3 carry (%{{.*}} = %arg0 : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: nn.yield %{{[^,]*}} : tensor<4xf32>
// CHECK: %[[K:.*]]:2 = nn.scan
// CHECK-DAG: %[[R:.*]] = nn.reshape %[[L]] : tensor<4xf32> to tensor<1x4xf32>
// CHECK-DAG: %[[S:.*]] = nn.slice %[[K]]#1
// CHECK: return %[[R]], %[[S]]
func.func @loops(%h: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0:2 = nn.scan steps = 3 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    %n = nn.exp %s : tensor<4xf32>
    nn.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  %1:2 = nn.scan steps = 3 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    %n = nn.exp %s : tensor<4xf32>
    nn.yield %n, %s : tensor<4xf32>, tensor<4xf32>
  }
  %2 = nn.slice %0#1 starts = [2, 0] sizes = [1, 4] steps = [1, 1] : tensor<3x4xf32>
  %3 = nn.slice %1#1 starts = [2, 0] sizes = [1, 4] steps = [1, 1] : tensor<3x4xf32>
  return %2, %3 : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// A part of the integers that are counted is counted from where it begins, by its steps; floats would round twice.
// CHECK-LABEL: @counted
// CHECK-DAG: %[[THREE:.*]] = nn.constant dense<3> : tensor<i64>
// CHECK-DAG: %[[BACK:.*]] = nn.constant dense<-2> : tensor<i64>
// CHECK-DAG: %[[LAST:.*]] = nn.constant dense<8> : tensor<i64>
// CHECK: %[[FROM:.*]] = nn.iota axis = 0 : tensor<4x2xi64>
// CHECK: %[[A:.*]] = nn.add %[[FROM]], %[[THREE]]
// CHECK: %[[EACH:.*]] = nn.iota axis = 0 : tensor<4x2xi64>
// CHECK: %[[S:.*]] = nn.mul %[[EACH]], %[[BACK]]
// CHECK: %[[B:.*]] = nn.add %[[S]], %[[LAST]]
// CHECK: %[[C:.*]] = nn.iota axis = 0 : tensor<4x2xi64>
// CHECK: %[[D:.*]] = nn.slice
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @counted() -> (tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xf32>) {
  %0 = nn.iota axis = 0 : tensor<9x5xi64>
  %1 = nn.iota axis = 0 : tensor<9x5xf32>
  %2 = nn.slice %0 starts = [3, 1] sizes = [4, 2] steps = [1, 2] : tensor<9x5xi64>
  %3 = nn.slice %0 starts = [8, 0] sizes = [4, 2] steps = [-2, 1] : tensor<9x5xi64>
  %4 = nn.slice %0 starts = [0, 3] sizes = [4, 2] steps = [1, 1] : tensor<9x5xi64>
  %5 = nn.slice %1 starts = [3, 0] sizes = [4, 2] steps = [1, 1] : tensor<9x5xf32>
  return %2, %3, %4, %5 : tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xf32>
}
