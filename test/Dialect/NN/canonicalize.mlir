// RUN: %sprig-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @reshapes
// CHECK-NEXT: %[[R:.*]] = nn.reshape %arg0 : tensor<2x6xf32> to tensor<4x3xf32>
// CHECK-NEXT: return %[[R]], %arg0, %arg0
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>, tensor<2x6xf32>) {
  %0 = nn.reshape %x : tensor<2x6xf32> to tensor<12xf32>
  %1 = nn.reshape %0 : tensor<12xf32> to tensor<4x3xf32>
  %2 = nn.reshape %0 : tensor<12xf32> to tensor<2x6xf32>
  %3 = nn.reshape %x : tensor<2x6xf32> to tensor<2x6xf32>
  return %1, %2, %3 : tensor<4x3xf32>, tensor<2x6xf32>, tensor<2x6xf32>
}

// -----

// CHECK-LABEL: @transposes
// CHECK-NEXT: %[[T:.*]] = nn.transpose %arg0 [2, 0, 1]
// CHECK-NEXT: return %[[T]], %arg0, %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = nn.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
  %1 = nn.transpose %0 [1, 2, 0] : tensor<3x4x2xf32>
  %2 = nn.transpose %0 [2, 0, 1] : tensor<3x4x2xf32>
  %3 = nn.transpose %x [0, 1, 2] : tensor<2x3x4xf32>
  return %1, %2, %3 : tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// Moves of nothing.
// CHECK-LABEL: @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>, %v: tensor<f32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = nn.slice %x starts = [0, 0] sizes = [2, 3] steps = [1, 1] : tensor<2x3xf32>
  %1 = nn.broadcast %x : tensor<2x3xf32> to tensor<2x3xf32>
  %2 = nn.pad edge %x, %v low = [0, 0] high = [0, 0] : tensor<2x3xf32>, tensor<f32>
  %3 = nn.concat %e, %x axis = 1 : tensor<2x0xf32>, tensor<2x3xf32>
  %4 = nn.cast %x : tensor<2x3xf32> to tensor<2x3xf32>
  %5 = nn.bitcast %x : tensor<2x3xf32> to tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @reversal_is_no_identity
// CHECK: nn.slice
func.func @reversal_is_no_identity(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nn.slice %x starts = [2] sizes = [3] steps = [-1] : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: @neutral_elements
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg1, %arg1
func.func @neutral_elements(%x: tensor<2x3xf32>, %i: tensor<2xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<3xf32>
  %negative = nn.constant dense<-0.0> : tensor<3xf32>
  %izero = nn.constant dense<0> : tensor<i32>
  %ione = nn.constant dense<1> : tensor<2xi32>
  %0 = nn.mul %x, %one : tensor<2x3xf32>, tensor<f32>
  %1 = nn.div %x, %one : tensor<2x3xf32>, tensor<f32>
  %2 = nn.sub %x, %zero : tensor<2x3xf32>, tensor<3xf32>
  %3 = nn.add %negative, %x : tensor<3xf32>, tensor<2x3xf32>
  %4 = nn.add %i, %izero : tensor<2xi32>, tensor<i32>
  %5 = nn.mul %ione, %i : tensor<2xi32>, tensor<2xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>
}

// -----

// x + 0 makes 0 of -0, and a product with a larger splat has another shape.
// CHECK-LABEL: @not_neutral
// CHECK: nn.add
// CHECK: nn.sub
// CHECK: nn.mul
func.func @not_neutral(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %negative = nn.constant dense<-0.0> : tensor<f32>
  %ones = nn.constant dense<1.0> : tensor<2x3xf32>
  %0 = nn.add %x, %zero : tensor<3xf32>, tensor<f32>
  %1 = nn.sub %x, %negative : tensor<3xf32>, tensor<f32>
  %2 = nn.mul %x, %ones : tensor<3xf32>, tensor<2x3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>
}

// -----

// Splats stay splats; a reshaped constant keeps its bytes.
// CHECK-LABEL: @splats
// CHECK-DAG: nn.constant dense<5.000000e-01> : tensor<4x1000000xf32>
// CHECK-DAG: nn.constant dense<5.000000e-01> : tensor<1000000x4xf32>
// CHECK-DAG: nn.constant dense<5.000000e-01> : tensor<2x2xf32>
// CHECK-DAG: nn.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>
// CHECK-NOT: nn.broadcast
func.func @splats() -> (tensor<4x1000000xf32>, tensor<1000000x4xf32>, tensor<2x2xf32>, tensor<2x2xi64>) {
  %c = nn.constant dense<0.5> : tensor<f32>
  %i = nn.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %0 = nn.broadcast %c : tensor<f32> to tensor<4x1000000xf32>
  %1 = nn.transpose %0 [1, 0] : tensor<4x1000000xf32>
  %2 = nn.slice %0 starts = [0, 5] sizes = [2, 2] steps = [1, 3] : tensor<4x1000000xf32>
  %3 = nn.reshape %i : tensor<4xi64> to tensor<2x2xi64>
  return %0, %1, %2, %3 : tensor<4x1000000xf32>, tensor<1000000x4xf32>, tensor<2x2xf32>, tensor<2x2xi64>
}

// -----

// The outermost of nested concatenations takes the operands of all; one that something else reads stays.
// CHECK-LABEL: @nested_concats
// CHECK-NEXT: %[[READ:.*]] = nn.concat %arg0, %arg1 axis = 0
// CHECK-NEXT: %[[ALL:.*]] = nn.concat %[[READ]], %arg1, %arg0, %arg0, %arg1 axis = 0
// CHECK-NEXT: %[[ACROSS:.*]] = nn.concat %[[ALL]], %[[ALL]] axis = 1
// CHECK-NEXT: return %[[READ]], %[[ACROSS]]
func.func @nested_concats(%x: tensor<1x2xf32>, %y: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<9x4xf32>) {
  %0 = nn.concat %x, %y axis = 0 : tensor<1x2xf32>, tensor<2x2xf32>
  %1 = nn.concat %0, %y axis = 0 : tensor<3x2xf32>, tensor<2x2xf32>
  %2 = nn.concat %x, %y axis = 0 : tensor<1x2xf32>, tensor<2x2xf32>
  %3 = nn.concat %x, %2 axis = 0 : tensor<1x2xf32>, tensor<3x2xf32>
  %4 = nn.concat %1, %3 axis = 0 : tensor<5x2xf32>, tensor<4x2xf32>
  %5 = nn.concat %4, %4 axis = 1 : tensor<9x2xf32>, tensor<9x2xf32>
  return %0, %5 : tensor<3x2xf32>, tensor<9x4xf32>
}

// -----

// A slice that a slice alone reads is part of it.
// CHECK-LABEL: @nested_slices
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg0 starts = [11, 9] sizes = [2, 3] steps = [6, -2] : tensor<20x10xf32>
// CHECK-NEXT: return %[[S]]
func.func @nested_slices(%x: tensor<20x10xf32>) -> tensor<2x3xf32> {
  %0 = nn.slice %x starts = [2, 9] sizes = [6, 5] steps = [3, -2] : tensor<20x10xf32>
  %1 = nn.slice %0 starts = [3, 0] sizes = [2, 3] steps = [2, 1] : tensor<6x5xf32>
  return %1 : tensor<2x3xf32>
}
