// What lies between dequantisation and quantisation, on integers.
// RUN: %sprig-opt %s --split-input-file --sprig-integer-products --sprig-fold-constants=keep-quantized --canonicalize --cse | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-integer-products -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The scales of both sides are one factor for each output, which takes the result's scale in; a bias of the sums' scale
// is added to the sums; the activation is the quantisation's lower end.
// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[FACTOR:.*]] = nn.constant dense<{{\[\[\[}}2.500000e-01]], {{\[\[}}5.000000e-01]]]> : tensor<2x1x1xf32>
// CHECK-DAG: %[[BIAS:.*]] = nn.constant dense<{{\[\[\[}}10]], {{\[\[}}-20]]]> : tensor<2x1x1xi32>
// CHECK-DAG: %[[Z:.*]] = nn.constant dense<0> : tensor<ui8>
// CHECK: %[[SUMS:.*]] = nn.conv_integer %arg0, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK: %[[WITH:.*]] = nn.add %[[SUMS]], %[[BIAS]]
// CHECK: %[[FLOATS:.*]] = nn.cast %[[WITH]]
// CHECK: %[[SCALED:.*]] = nn.mul %[[FLOATS]], %[[FACTOR]]
// CHECK: %[[R:.*]] = nn.quantize %[[SCALED]], %[[ONE]], %[[Z]]
// CHECK: return %[[R]]
func.func @conv(%x: tensor<1x3x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %sx = nn.constant dense<0.5> : tensor<f32>
  %zx = nn.constant dense<7> : tensor<ui8>
  %w = nn.constant dense<[[[[1]], [[2]], [[3]]], [[[4]], [[5]], [[-6]]]]> : tensor<2x3x1x1xi8>
  %sw = nn.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %zw = nn.constant dense<0> : tensor<i8>
  %b = nn.constant dense<[10, -20]> : tensor<2xi32>
  %sb = nn.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %zb = nn.constant dense<0> : tensor<i32>
  %sy = nn.constant dense<2.0> : tensor<f32>
  %zy = nn.constant dense<0> : tensor<ui8>
  %xf = nn.dequantize %x, %sx, %zx : tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>
  %wf = nn.dequantize %w, %sw, %zw : tensor<2x3x1x1xi8>, tensor<2x1x1x1xf32>, tensor<i8>
  %bf = nn.dequantize %b, %sb, %zb : tensor<2xi32>, tensor<2xf32>, tensor<i32>
  %c = nn.conv %xf, %wf {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>
  %bv = nn.reshape %bf : tensor<2xf32> to tensor<2x1x1xf32>
  %s = nn.add %c, %bv : tensor<1x2x4x4xf32>, tensor<2x1x1xf32>
  %a = nn.relu %s : tensor<1x2x4x4xf32>
  %r = nn.quantize %a, %sy, %zy : tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>
  return %r : tensor<1x2x4x4xui8>
}

// -----

// A linear layer in PyTorch's layout, its result read as floats by others: no quantisation takes its factor.
// CHECK-LABEL: func.func @linear(
// CHECK: nn.matmul_integer %arg0, %{{.*}} {transpose_rhs} : tensor<5x2xui8>, tensor<2x2xi8>
// CHECK: nn.cast
// CHECK: nn.mul
// CHECK: %[[Y:.*]] = nn.add %{{.*}}, %arg1
// CHECK: return %[[Y]] : tensor<5x2xf32>
func.func @linear(%x: tensor<5x2xui8>, %b: tensor<2xf32>) -> tensor<5x2xf32> {
  %sx = nn.constant dense<0.5> : tensor<f32>
  %zx = nn.constant dense<7> : tensor<ui8>
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %sw = nn.constant dense<0.1> : tensor<f32>
  %zw = nn.constant dense<0> : tensor<i8>
  %xf = nn.dequantize %x, %sx, %zx : tensor<5x2xui8>, tensor<f32>, tensor<ui8>
  %wf = nn.dequantize %w, %sw, %zw : tensor<2x2xi8>, tensor<f32>, tensor<i8>
  %r = nn.linear %xf, %wf, %b : tensor<5x2xf32>, tensor<2x2xf32>, tensor<2xf32>
  return %r : tensor<5x2xf32>
}

// -----

// A residual: the scale goes back into both sides.
// CHECK-LABEL: func.func @residual(
// CHECK-DAG: %[[S:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK-DAG: %[[T:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[X:.*]] = nn.dequantize %arg0, %[[S]]
// CHECK: %[[Y:.*]] = nn.dequantize %arg1, %[[T]]
// CHECK: %[[SUM:.*]] = nn.add %[[X]], %[[Y]]
// CHECK: nn.quantize %[[SUM]]
func.func @residual(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %s = nn.constant dense<1.0> : tensor<f32>
  %t = nn.constant dense<2.0> : tensor<f32>
  %u = nn.constant dense<4.0> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %xf = nn.dequantize %x, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8>
  %yf = nn.dequantize %y, %t, %z : tensor<4xi8>, tensor<f32>, tensor<i8>
  %sum = nn.add %xf, %yf : tensor<4xf32>, tensor<4xf32>
  %r = nn.quantize %sum, %u, %z : tensor<4xf32>, tensor<f32>, tensor<i8>
  return %r : tensor<4xi8>
}

// -----

// Between equal scales: the integers themselves.
// CHECK-LABEL: func.func @moves(
// CHECK-NEXT: %[[Z:.*]] = nn.constant dense<3> : tensor<i8>
// CHECK-NEXT: %[[P:.*]] = nn.pool max %arg0 {{.*}} : tensor<1x2x4x4xi8>
// CHECK-NEXT: %[[R:.*]] = nn.max %[[P]], %[[Z]]
// CHECK-NEXT: %[[F:.*]] = nn.reshape %[[R]] : tensor<1x2x2x2xi8> to tensor<1x8xi8>
// CHECK-NEXT: return %[[F]]
func.func @moves(%x: tensor<1x2x4x4xi8>) -> tensor<1x8xi8> {
  %s = nn.constant dense<0.1> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %f = nn.dequantize %x, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>
  %p = nn.pool max %f {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xf32>
  %a = nn.relu %p : tensor<1x2x2x2xf32>
  %v = nn.reshape %a : tensor<1x2x2x2xf32> to tensor<1x8xf32>
  %r = nn.quantize %v, %s, %z : tensor<1x8xf32>, tensor<f32>, tensor<i8>
  return %r : tensor<1x8xi8>
}

// -----

// Means: exact sums of integers, over windows by convolutions with ones, times one factor, which takes the result's
// scale in.
// CHECK-LABEL: func.func @means(
// CHECK-DAG: %[[P:.*]] = nn.constant dense<1.250000e-01> : tensor<f32>
// CHECK-DAG: %[[M:.*]] = nn.constant dense<3.125000e-02> : tensor<f32>
// CHECK-DAG: %[[Z:.*]] = nn.constant dense<3> : tensor<i8>
// CHECK-DAG: %[[W:.*]] = nn.constant dense<1> : tensor<2x1x2x2xi8>
// CHECK: %[[I:.*]] = nn.cast %arg0 : tensor<1x2x4x4xi8> to tensor<1x2x4x4xi32>
// CHECK: %[[R:.*]] = nn.reduce sum %[[I]] axes = [2, 3] : tensor<1x2x4x4xi32>
// CHECK: nn.sub %[[R]]
// CHECK: nn.conv_integer %arg0, %[[W]], %[[Z]], %{{.*}} {{{.*}}groups = 2 : i64
// CHECK: nn.cast
// CHECK: nn.mul %{{.*}}, %[[P]]
func.func @means(%x: tensor<1x2x4x4xi8>) -> (tensor<1x2xf32>, tensor<1x2x2x2xi8>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<1.0> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %f = nn.dequantize %x, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>
  %m = nn.reduce_mean %f axes = [2, 3] : tensor<1x2x4x4xf32>
  %p = nn.avg_pool %f {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, counted_padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xf32>
  %r = nn.quantize %p, %t, %z : tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>
  return %m, %r : tensor<1x2xf32>, tensor<1x2x2x2xi8>
}

// -----

// Windows in the padding have other counts: floats.
// CHECK-LABEL: func.func @padded_means(
// CHECK: nn.dequantize
// CHECK: nn.avg_pool
func.func @padded_means(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x5x4xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %f = nn.dequantize %x, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>
  %p = nn.avg_pool %f {window = array<i64: 2, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 0, 1, 0>, counted_padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xf32>
  return %p : tensor<1x2x5x4xf32>
}

// -----

// Two scales: floats.
// CHECK-LABEL: func.func @requantized(
// CHECK: nn.dequantize
// CHECK: nn.quantize
func.func @requantized(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<0.25> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %f = nn.dequantize %x, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8>
  %r = nn.quantize %f, %t, %z : tensor<4xf32>, tensor<f32>, tensor<i8>
  return %r : tensor<4xi8>
}

// -----

// What stays in floats is said.
// CHECK-LABEL: func.func @floats(
// CHECK-COUNT-2: nn.matmul {{.*}}xf32>
// REMARK: the product of quantised tensors stays in floats: {{.*}}its left side has several scales
// REMARK: the product of quantised tensors stays in floats: {{.*}}its right side is no constant
func.func @floats(%x: tensor<2x2xui8>, %y: tensor<2x2xui8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %t = nn.constant dense<0.1> : tensor<f32>
  %z = nn.constant dense<0> : tensor<ui8>
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %xs = nn.dequantize %x, %s, %z : tensor<2x2xui8>, tensor<2x1xf32>, tensor<ui8>
  %xf = nn.dequantize %x, %t, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %yf = nn.dequantize %y, %t, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %wf = nn.dequantize %w, %t, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %p = nn.matmul %xs, %wf : tensor<2x2xf32>, tensor<2x2xf32>
  %q = nn.matmul %xf, %yf : tensor<2x2xf32>, tensor<2x2xf32>
  return %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A bias along the rows has as many places as the product has columns, but they are others.
// CHECK-LABEL: func.func @bias_of_rows(
// CHECK: %[[S:.*]] = nn.matmul_integer
// CHECK: nn.cast %[[S]] : tensor<2x2xi32> to tensor<2x2xf32>
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x2xf32>
func.func @bias_of_rows(%x: tensor<2x2xui8>) -> tensor<2x2xf32> {
  %s = nn.constant dense<1.0> : tensor<f32>
  %z = nn.constant dense<0> : tensor<ui8>
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %sw = nn.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %b = nn.constant dense<[[10], [20]]> : tensor<2x1xi32>
  %sb = nn.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %zb = nn.constant dense<0> : tensor<i32>
  %xf = nn.dequantize %x, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %wf = nn.dequantize %w, %sw, %z : tensor<2x2xui8>, tensor<2xf32>, tensor<ui8>
  %bf = nn.dequantize %b, %sb, %zb : tensor<2x1xi32>, tensor<2x1xf32>, tensor<i32>
  %p = nn.matmul %xf, %wf : tensor<2x2xf32>, tensor<2x2xf32>
  %r = nn.add %p, %bf : tensor<2x2xf32>, tensor<2x1xf32>
  return %r : tensor<2x2xf32>
}

// -----

// A bias with which sums might not fit into 32 bits is added to floats.
// CHECK-LABEL: func.func @large_bias(
// CHECK: %[[S:.*]] = nn.matmul_integer
// CHECK: nn.cast %[[S]] : tensor<2x2xi32> to tensor<2x2xf32>
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x2xf32>
func.func @large_bias(%x: tensor<2x2xui8>) -> tensor<2x2xf32> {
  %s = nn.constant dense<1.0> : tensor<f32>
  %z = nn.constant dense<0> : tensor<ui8>
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %b = nn.constant dense<[2147483000, 1]> : tensor<2xi32>
  %zb = nn.constant dense<0> : tensor<i32>
  %xf = nn.dequantize %x, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %wf = nn.dequantize %w, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %bf = nn.dequantize %b, %s, %zb : tensor<2xi32>, tensor<f32>, tensor<i32>
  %p = nn.matmul %xf, %wf : tensor<2x2xf32>, tensor<2x2xf32>
  %r = nn.add %p, %bf : tensor<2x2xf32>, tensor<2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// A scale whose reciprocal is no normal number stays a divisor, and so do those of other floats.
// CHECK-LABEL: func.func @divisors(
// CHECK-DAG: %[[S:.*]] = nn.constant dense<1.000000e-39> : tensor<f32>
// CHECK-DAG: %[[H:.*]] = nn.constant dense<5.000000e-01> : tensor<f16>
// CHECK: nn.quantize %arg0, %[[S]]
// CHECK: nn.quantize %arg1, %[[H]]
func.func @divisors(%x: tensor<4xf32>, %y: tensor<4xf16>) -> (tensor<4xi8>, tensor<4xi8>) {
  %s = nn.constant dense<1.0e-39> : tensor<f32>
  %h = nn.constant dense<0.5> : tensor<f16>
  %z = nn.constant dense<0> : tensor<i8>
  %a = nn.quantize %x, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8>
  %b = nn.quantize %y, %h, %z : tensor<4xf16>, tensor<f16>, tensor<i8>
  return %a, %b : tensor<4xi8>, tensor<4xi8>
}

// -----

// What lies behind a length is zero: the zero point of the integers.
// CHECK-LABEL: func.func @masked(
// CHECK: %[[F:.*]] = nn.select %arg1, %arg0, %{{.*}} : tensor<2x1xi1>, tensor<2x2xui8>, tensor<ui8>
// CHECK: nn.matmul_integer %[[F]]
func.func @masked(%x: tensor<2x2xui8>, %there: tensor<2x1xi1>) -> tensor<2x2xf32> {
  %s = nn.constant dense<1.0> : tensor<f32>
  %z = nn.constant dense<3> : tensor<ui8>
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %none = nn.constant dense<0.0> : tensor<f32>
  %xf = nn.dequantize %x, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %m = nn.select %there, %xf, %none : tensor<2x1xi1>, tensor<2x2xf32>, tensor<f32>
  %wf = nn.dequantize %w, %s, %z : tensor<2x2xui8>, tensor<f32>, tensor<ui8>
  %r = nn.matmul %m, %wf : tensor<2x2xf32>, tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
