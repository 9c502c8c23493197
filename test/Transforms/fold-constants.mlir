// RUN: sprig-opt %s --sprig-fold-constants --split-input-file | FileCheck %s
// RUN: sprig-opt %s --sprig-fold-constants=keep-quantized --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: sprig-opt %s --sprig-fold-constants=keep-narrow --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: sprig-opt %s --sprig-fold-constants=max-bytes=16 --split-input-file | FileCheck %s --check-prefix=SMALL

// A shape computation, as models do it, folds in one run; what only it needed goes.
// CHECK-LABEL: @shape_arithmetic
// CHECK-NEXT: %[[C:.*]] = nn.constant dense<[8, 12]> : tensor<2xi64>
// CHECK-NEXT: return %[[C]]
func.func @shape_arithmetic() -> tensor<2xi64> {
  %shape = nn.constant dense<[2, 3, 4]> : tensor<3xi64>
  %index = nn.constant dense<[-3, 1]> : tensor<2xi64>
  %picked = nn.gather %shape, %index axis = 0 : tensor<3xi64>, tensor<2xi64>
  %four = nn.constant dense<4> : tensor<i64>
  %scaled = nn.mul %picked, %four : tensor<2xi64>, tensor<i64>
  return %scaled : tensor<2xi64>
}

// -----

// Results are rounded to their type: 1/3 of f32, 2049 in f16.
// CHECK-LABEL: @rounds
// CHECK-DAG: dense<0.333333343> : tensor<f32>
// CHECK-DAG: dense<[2.048000e+03, 2.052000e+03]> : tensor<2xf16>
func.func @rounds() -> (tensor<f32>, tensor<2xf16>) {
  %three = nn.constant dense<3.0> : tensor<f32>
  %third = nn.reciprocal %three : tensor<f32>
  %big = nn.constant dense<[2048.0, 2050.0]> : tensor<2xf16>
  %one = nn.constant dense<1.0> : tensor<f16>
  %sum = nn.add %big, %one : tensor<2xf16>, tensor<f16>
  return %third, %sum : tensor<f32>, tensor<2xf16>
}

// -----

// Splats stay splats at any size and cost one element.
// CHECK-LABEL: @splats
// CHECK-NEXT: nn.constant dense<2.500000e+00> : tensor<4096x100000xf32>
// CHECK-NEXT: return
// SMALL-LABEL: @splats
// SMALL-NEXT: nn.constant dense<2.500000e+00> : tensor<4096x100000xf32>
func.func @splats() -> tensor<4096x100000xf32> {
  %half = nn.constant dense<0.5> : tensor<1x1xf32>
  %wide = nn.broadcast %half : tensor<1x1xf32> to tensor<100000x4096xf32>
  %turned = nn.transpose %wide [1, 0] : tensor<100000x4096xf32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %sum = nn.add %turned, %two : tensor<4096x100000xf32>, tensor<f32>
  return %sum : tensor<4096x100000xf32>
}

// -----

// The limit holds for what grows, not for what keeps its size.
// CHECK-LABEL: @limit
// CHECK-NOT: nn.broadcast
// SMALL-LABEL: @limit
// SMALL: nn.broadcast
// SMALL-NOT: nn.transpose
func.func @limit() -> (tensor<4x2xi64>, tensor<3x2xi64>) {
  %row = nn.constant dense<[1, 2]> : tensor<2xi64>
  %rows = nn.broadcast %row : tensor<2xi64> to tensor<4x2xi64>
  %matrix = nn.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %turned = nn.transpose %matrix [1, 0] : tensor<2x3xi64>
  return %rows, %turned : tensor<4x2xi64>, tensor<3x2xi64>
}

// -----

// Errors are run time's to report.
// CHECK-LABEL: @errors
// CHECK: nn.div
// CHECK: nn.gather
func.func @errors() -> (tensor<i32>, tensor<f32>) {
  %one = nn.constant dense<1> : tensor<i32>
  %zero = nn.constant dense<0> : tensor<i32>
  %quotient = nn.div %one, %zero : tensor<i32>, tensor<i32>
  %values = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %index = nn.constant dense<2> : tensor<i64>
  %value = nn.gather %values, %index axis = 0 : tensor<2xf32>, tensor<i64>
  return %quotient, %value : tensor<i32>, tensor<f32>
}

// -----

// Parameters are state, not constants.
// CHECK-LABEL: @params
// CHECK: nn.get_param
// CHECK: nn.neg
nn.param @w = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @params() -> tensor<2xf32> {
  %w = nn.get_param @w : tensor<2xf32>
  %n = nn.neg %w : tensor<2xf32>
  return %n : tensor<2xf32>
}

// -----

// A composite.
// CHECK-LABEL: @composite
// CHECK: dense<[0.000000e+00, -2.000000e-02]> : tensor<2xf32>
func.func @composite() -> tensor<2xf32> {
  %x = nn.constant dense<[0.0, -2.0]> : tensor<2xf32>
  %leaky = nn.leaky_relu %x : tensor<2xf32>
  return %leaky : tensor<2xf32>
}

// -----

// Two numbers in each byte stay there.
// CHECK-LABEL: @packed
// CHECK: nn.shr
func.func @packed() -> tensor<2x2xui8> {
  %bytes = nn.constant dense<[[33], [67]]> : tensor<2x1xui8>
  %places = nn.constant dense<[0, 4]> : tensor<2xui8>
  %numbers = nn.shr %bytes, %places : tensor<2x1xui8>, tensor<2xui8>
  return %numbers : tensor<2x2xui8>
}

// -----

// A dequantised constant is one, unless somebody means to compute with its integers.
// CHECK-LABEL: @dequantised
// CHECK: nn.constant dense<[-5.000000e-01, 5.000000e-01]> : tensor<2xf32>
// KEEP-LABEL: @dequantised
// KEEP: nn.dequantize
func.func @dequantised() -> tensor<2xf32> {
  %q = nn.constant dense<[1, 3]> : tensor<2xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<2> : tensor<i8>
  %r = nn.dequantize %q, %s, %z : tensor<2xi8>, tensor<f32>, tensor<i8>
  return %r : tensor<2xf32>
}

// -----

// Weights that only products read are taken out of their bytes and no further; those that have bytes of their own become
// floats.
// CHECK-LABEL: @weights
// CHECK: nn.shr
// SMALL-LABEL: @weights
// NARROW-LABEL: @weights
// NARROW-NOT: nn.shr
// NARROW: nn.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xui8>
// NARROW: nn.dequantize
// NARROW-NOT: nn.dequantize
// NARROW: nn.matmul
func.func @weights(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %bytes = nn.constant dense<[[33], [67]]> : tensor<2x1xui8>
  %places = nn.constant dense<[0, 4]> : tensor<2xui8>
  %mask = nn.constant dense<15> : tensor<ui8>
  %shifted = nn.shr %bytes, %places : tensor<2x1xui8>, tensor<2xui8>
  %q = nn.and %shifted, %mask : tensor<2x2xui8>, tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<2> : tensor<ui8>
  %d = nn.dequantize %q, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %w = nn.transpose %d [1, 0] : tensor<2x2xf32>
  %a = nn.matmul %x, %w : tensor<3x2xf32>, tensor<2x2xf32>
  %p = nn.constant dense<[[1, 2], [3, 5]]> : tensor<2x2xui8>
  %v = nn.dequantize %p, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %b = nn.matmul %x, %v : tensor<3x2xf32>, tensor<2x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// Bytes that a loop reads at each step become floats whatever their size, through moves too; those that others read
// stay.
// SMALL-LABEL: @recurrent_weight
// SMALL-DAG: %[[W:.*]] = nn.constant dense<{{.*}}> : tensor<3x3xf32>
// SMALL-DAG: %[[D:.*]] = nn.dequantize
// SMALL: nn.scan {{.*}}%[[W]]
// SMALL: nn.add %{{.*}}, %[[D]]
func.func @recurrent_weight(%x: tensor<4x3x3xf32>, %h: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %w = nn.constant dense<[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]> : tensor<1x3x3xi8>
  %v = nn.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<0> : tensor<i8>
  %d = nn.dequantize %w, %s, %z : tensor<1x3x3xi8>, tensor<f32>, tensor<i8>
  %t = nn.transpose %d [0, 2, 1] : tensor<1x3x3xf32>
  %m = nn.reshape %t : tensor<1x3x3xf32> to tensor<3x3xf32>
  %o = nn.dequantize %v, %s, %z : tensor<3x3xi8>, tensor<f32>, tensor<i8>
  %last = nn.scan steps = 4 over (%each = %x : tensor<4x3x3xf32>) carry (%state = %h : tensor<3x3xf32>) with (%r = %m : tensor<3x3xf32>) -> tensor<3x3xf32> {
    %p = nn.matmul %state, %r : tensor<3x3xf32>, tensor<3x3xf32>
    %n = nn.add %p, %each : tensor<3x3xf32>, tensor<3x3xf32>
    nn.yield %n : tensor<3x3xf32>
  }
  %q = nn.add %h, %o : tensor<3x3xf32>, tensor<3x3xf32>
  return %last, %q : tensor<3x3xf32>, tensor<3x3xf32>
}
