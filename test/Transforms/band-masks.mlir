// RUN: %sprig-opt %s --split-input-file --sprig-band-masks=small=2 | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-band-masks | FileCheck %s --check-prefix=SMALL
// SMALL-NOT: nn.iota

// A causal mask: on and below the diagonal.
// CHECK-LABEL: @causal
// CHECK-NOT:     dense<[
// CHECK:         %[[ROW:.*]] = nn.iota axis = 0 : tensor<3x1xi32>
// CHECK:         %[[COLUMN:.*]] = nn.iota axis = 1 : tensor<1x4xi32>
// CHECK:         %[[MASK:.*]] = nn.compare ge %[[ROW]], %[[COLUMN]]
// CHECK:         nn.select %[[MASK]], %arg0
func.func @causal(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = nn.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false]]> : tensor<3x4xi1>
  %r = nn.select %m, %x, %y : tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// What is added to scores; a sliding window, and dimensions of one element in front.
// CHECK-LABEL: @window
// CHECK:         %[[ROW:.*]] = nn.iota axis = 1 : tensor<1x4x1xi32>
// CHECK:         %[[COLUMN:.*]] = nn.iota axis = 2 : tensor<1x1x4xi32>
// CHECK:         %[[MINUS:.*]] = nn.constant dense<-1> : tensor<i32>
// CHECK:         %[[FIRST:.*]] = nn.add %[[ROW]], %[[MINUS]]
// CHECK:         %[[LOWER:.*]] = nn.compare ge %[[COLUMN]], %[[FIRST]]
// CHECK:         %[[UPPER:.*]] = nn.compare ge %[[ROW]], %[[COLUMN]]
// CHECK:         %[[BAND:.*]] = nn.and %[[LOWER]], %[[UPPER]]
// CHECK:         %[[INSIDE:.*]] = nn.constant dense<0.{{0*}}e+00> : tensor<f32>
// CHECK:         %[[OUTSIDE:.*]] = nn.constant dense<0xFF800000> : tensor<f32>
// CHECK:         %[[MASK:.*]] = nn.select %[[BAND]], %[[INSIDE]], %[[OUTSIDE]]
// CHECK:         nn.add %arg0, %[[MASK]] : tensor<2x4x4xf32>, tensor<1x4x4xf32>
func.func @window(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %m = nn.constant dense<[[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000],
                           [0xFF800000, 0.0, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0.0, 0.0]]]> : tensor<1x4x4xf32>
  %r = nn.add %x, %m : tensor<2x4x4xf32>, tensor<1x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// -----

// True outside of the band: what is above the diagonal and one more.
// CHECK-LABEL: @above
// CHECK:         nn.constant dense<1> : tensor<i32>
// CHECK:         %[[BAND:.*]] = nn.compare ge
// CHECK:         %[[ABOVE:.*]] = nn.not %[[BAND]]
// CHECK:         nn.select %[[ABOVE]], %arg0
func.func @above(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %m = nn.constant dense<[[false, false, true], [false, false, false], [false, false, false]]> : tensor<3x3xi1>
  %r = nn.select %m, %x, %y : tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// -----

// No bands: a row that is another one, three values, different matrices, one value.
// CHECK-LABEL: @others
// CHECK-NOT:     nn.iota
func.func @others(%x: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %odd = nn.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<3x3xf32>
  %three = nn.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 2.0]]> : tensor<3x3xf32>
  %two = nn.constant dense<[[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x3x3xf32>
  %one = nn.constant dense<4.0> : tensor<3x3xf32>
  %0 = nn.mul %x, %odd : tensor<2x3x3xf32>, tensor<3x3xf32>
  %1 = nn.mul %0, %three : tensor<2x3x3xf32>, tensor<3x3xf32>
  %2 = nn.mul %1, %two : tensor<2x3x3xf32>, tensor<2x3x3xf32>
  %3 = nn.mul %2, %one : tensor<2x3x3xf32>, tensor<3x3xf32>
  return %3 : tensor<2x3x3xf32>
}

// -----

// A product reads the matrix as it lies.
// CHECK-LABEL: @product
// CHECK-NOT:     nn.iota
func.func @product(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %m = nn.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]> : tensor<3x3xf32>
  %0 = nn.matmul %x, %m : tensor<3x3xf32>, tensor<3x3xf32>
  %1 = nn.mul %0, %m : tensor<3x3xf32>, tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// -----

// Equal elements that are stored one by one.
// CHECK-LABEL: @equal
// CHECK-NOT:     nn.iota
func.func @equal(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %m = nn.constant dense_resource<equal> : tensor<3x3xf32>
  %r = nn.add %x, %m : tensor<3x3xf32>, tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      equal: "0x04000000000000400000004000000040000000400000004000000040000000400000004000000040"
    }
  }
#-}
