// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-decompose --sprig-fold-constants --canonicalize | FileCheck %s --check-prefix=DECOMPOSED

// CHECK-LABEL: func.func @quantize(
// CHECK: nn.quantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<f32>, tensor<ui8>
// CHECK: nn.dequantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xui8>, tensor<4x1xf16>, tensor<4x1xui8>
func.func @quantize(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<4x1xf16>, %y: tensor<4x1xui8>) -> tensor<4x8xf16> {
  %q = nn.quantize %x, %s, %z : tensor<4x8xf32>, tensor<f32>, tensor<ui8>
  %r = nn.dequantize %q, %t, %y : tensor<4x8xui8>, tensor<4x1xf16>, tensor<4x1xui8>
  return %r : tensor<4x8xf16>
}

// -----

// Integers are clipped where there are fewer than the type has.
// CHECK-LABEL: func.func @fake(
// CHECK: nn.fake_quantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<f32>, tensor<ui8>
// CHECK: nn.fake_quantize %{{.*}}, %{{.*}}, %{{.*}} {high = 7 : i64, low = -7 : i64} : tensor<4x8xf32>, tensor<4x1xf32>, tensor<i8>
// DECOMPOSED-LABEL: func.func @fake(
// DECOMPOSED: %[[Q:.*]] = nn.quantize %arg0, %arg1, %arg2
// DECOMPOSED-NEXT: %[[R:.*]] = nn.dequantize %[[Q]], %arg1, %arg2
// DECOMPOSED: %[[W:.*]] = nn.quantize %[[R]], %arg3, %arg4
// DECOMPOSED: %[[L:.*]] = nn.max %[[W]], %{{.*}} : tensor<4x8xi8>, tensor<i8>
// DECOMPOSED: %[[H:.*]] = nn.min %[[L]], %{{.*}} : tensor<4x8xi8>, tensor<i8>
// DECOMPOSED: nn.dequantize %[[H]], %arg3, %arg4
func.func @fake(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<4x1xf32>, %y: tensor<i8>) -> tensor<4x8xf32> {
  %q = nn.fake_quantize %x, %s, %z : tensor<4x8xf32>, tensor<f32>, tensor<ui8>
  %r = nn.fake_quantize %q, %t, %y {low = -7 : i64, high = 7 : i64} : tensor<4x8xf32>, tensor<4x1xf32>, tensor<i8>
  return %r : tensor<4x8xf32>
}

// -----

// Two matrices that are computed: products of 32-bit integers.
// CHECK-LABEL: func.func @computed(
// CHECK: nn.matmul_integer %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {transpose_rhs}
// DECOMPOSED-LABEL: func.func @computed(
// DECOMPOSED: nn.matmul {{.*}} {transpose_rhs} : tensor<2x16xi32>, tensor<4x16xi32>
func.func @computed(%x: tensor<2x16xui8>, %w: tensor<4x16xi8>, %a: tensor<2x1xui8>, %b: tensor<4x1xi8>) -> tensor<2x4xi32> {
  %r = nn.matmul_integer %x, %w, %a, %b {transpose_rhs} : tensor<2x16xui8>, tensor<4x16xi8>, tensor<2x1xui8>, tensor<4x1xi8>
  return %r : tensor<2x4xi32>
}

// -----

// A constant: its zero point is taken off once and for all, and what the other side's adds is a constant per column.
// DECOMPOSED-LABEL: func.func @constant(
// DECOMPOSED-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}0, -1], [-128, 127]]> : tensor<2x2xi8>
// DECOMPOSED-DAG: %[[C:.*]] = nn.constant dense<[-896, 882]> : tensor<2xi32>
// DECOMPOSED: %[[P:.*]] = nn.matmul %{{.*}}, %[[W]] {accumulator = i32} : tensor<3x2xui8>, tensor<2x2xi8>
// DECOMPOSED: nn.sub %[[P]], %[[C]]
func.func @constant(%x: tensor<3x2xui8>) -> tensor<3x2xi32> {
  %w = nn.constant dense<[[128, 127], [0, 255]]> : tensor<2x2xui8>
  %a = nn.constant dense<7> : tensor<ui8>
  %b = nn.constant dense<128> : tensor<ui8>
  %r = nn.matmul_integer %x, %w, %a, %b : tensor<3x2xui8>, tensor<2x2xui8>, tensor<ui8>, tensor<ui8>
  return %r : tensor<3x2xi32>
}

// -----

// The sums of its columns are taken at once, whatever the other side's zero point is.
// DECOMPOSED-LABEL: func.func @sums(
// DECOMPOSED-NOT: nn.reduce
// DECOMPOSED-DAG: nn.constant dense<[-128, 126]> : tensor<2xi32>
// DECOMPOSED: return
func.func @sums(%x: tensor<3x2xui8>, %a: tensor<ui8>) -> tensor<3x2xi32> {
  %w = nn.constant dense<[[0, -1], [-128, 127]]> : tensor<2x2xi8>
  %b = nn.constant dense<0> : tensor<i8>
  %r = nn.matmul_integer %x, %w, %a, %b : tensor<3x2xui8>, tensor<2x2xi8>, tensor<ui8>, tensor<i8>
  return %r : tensor<3x2xi32>
}

// -----

// Signed bytes on the left are moved up by 128.
// DECOMPOSED-LABEL: func.func @signed(
// DECOMPOSED: %[[X:.*]] = nn.cast %arg0 : tensor<3x2xi8> to tensor<3x2xui8>
// DECOMPOSED: %[[U:.*]] = nn.xor %[[X]], %{{.*}} : tensor<3x2xui8>, tensor<ui8>
// DECOMPOSED: nn.matmul %[[U]], %{{.*}} {accumulator = i32}
// DECOMPOSED: nn.sub
func.func @signed(%x: tensor<3x2xi8>) -> tensor<3x1xi32> {
  %w = nn.constant dense<[[1], [-2]]> : tensor<2x1xi8>
  %z = nn.constant dense<0> : tensor<i8>
  %r = nn.matmul_integer %x, %w, %z, %z : tensor<3x2xi8>, tensor<2x1xi8>, tensor<i8>, tensor<i8>
  return %r : tensor<3x1xi32>
}

// -----

// A weight less its zero point does not fit into bytes: it counts from the middle, of those columns that need it, and
// the sums of rows are added.
// DECOMPOSED-LABEL: func.func @far(
// DECOMPOSED-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}0, 1], [127, 2]]> : tensor<2x2xi8>
// DECOMPOSED-DAG: %[[C:.*]] = nn.constant dense<[128, 0]> : tensor<2xi32>
// DECOMPOSED-DAG: %[[K:.*]] = nn.constant dense<14> : tensor<i32>
// DECOMPOSED: %[[P:.*]] = nn.matmul %{{.*}}, %[[W]] {accumulator = i32} : tensor<3x2xui8>, tensor<2x2xi8>
// DECOMPOSED: %[[Q:.*]] = nn.sub %[[P]], %{{.*}} : tensor<3x2xi32>, tensor<2xi32>
// DECOMPOSED: %[[X:.*]] = nn.cast %arg0 : tensor<3x2xui8> to tensor<3x2xi32>
// DECOMPOSED: %[[R:.*]] = nn.reduce sum %[[X]] axes = [1] {keep_dims}
// DECOMPOSED: %[[S:.*]] = nn.sub %[[R]], %[[K]]
// DECOMPOSED: %[[T:.*]] = nn.mul %[[S]], %[[C]] : tensor<3x1xi32>, tensor<2xi32>
// DECOMPOSED: nn.add %[[Q]], %[[T]]
func.func @far(%x: tensor<3x2xui8>) -> tensor<3x2xi32> {
  %w = nn.constant dense<[[128, 129], [255, 130]]> : tensor<2x2xui8>
  %a = nn.constant dense<7> : tensor<ui8>
  %b = nn.constant dense<[0, 128]> : tensor<2xui8>
  %r = nn.matmul_integer %x, %w, %a, %b : tensor<3x2xui8>, tensor<2x2xui8>, tensor<ui8>, tensor<2xui8>
  return %r : tensor<3x2xi32>
}

// -----

// The same of a filter: sums over windows, to which the padding adds nothing.
// DECOMPOSED-LABEL: func.func @far_filter(
// DECOMPOSED-DAG: %[[W:.*]] = nn.constant dense<{{.*}}127, -128{{.*}}> : tensor<2x1x1x2xi8>
// DECOMPOSED-DAG: %[[C:.*]] = nn.constant dense<{{.*}}-1{{.*}}0{{.*}}> : tensor<2x1x1xi32>
// DECOMPOSED: %[[S:.*]] = nn.pool sum %{{.*}} {dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : tensor<1x1x4x4xi32>
// DECOMPOSED: nn.conv %arg0, %[[W]] {accumulator = i32, {{.*}} : tensor<1x1x4x4xui8>, tensor<2x1x1x2xi8>
// DECOMPOSED: nn.mul %[[S]], %[[C]]
func.func @far_filter(%x: tensor<1x1x4x4xui8>) -> tensor<1x2x4x4xi32> {
  %w = nn.constant dense<[[[[127, -128]]], [[[3, 4]]]]> : tensor<2x1x1x2xi8>
  %a = nn.constant dense<0> : tensor<ui8>
  %b = nn.constant dense<1> : tensor<i8>
  %r = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 0>} : tensor<1x1x4x4xui8>, tensor<2x1x1x2xi8>, tensor<ui8>, tensor<i8>
  return %r : tensor<1x2x4x4xi32>
}

// -----

// Of one filter for each channel they are products with ones.
// DECOMPOSED-LABEL: func.func @far_depthwise(
// DECOMPOSED-DAG: %[[ONE:.*]] = nn.constant dense<1> : tensor<2x1x1x1xi8>
// DECOMPOSED: nn.conv {{.*}} {accumulator = i32
// DECOMPOSED: nn.conv %{{.*}}, %[[ONE]] {accumulator = i32
func.func @far_depthwise(%x: tensor<1x2x4x4xui8>, %a: tensor<ui8>) -> tensor<1x2x4x4xi32> {
  %w = nn.constant dense<[[[[0]]], [[[255]]]]> : tensor<2x1x1x1xui8>
  %b = nn.constant dense<0> : tensor<ui8>
  %r = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x2x4x4xui8>, tensor<2x1x1x1xui8>, tensor<ui8>, tensor<ui8>
  return %r : tensor<1x2x4x4xi32>
}

// -----

// The padding counts as the zero point.
// DECOMPOSED-LABEL: func.func @padded(
// DECOMPOSED-DAG: %[[Z:.*]] = nn.constant dense<9> : tensor<ui8>
// DECOMPOSED: nn.pad constant %arg0, %[[Z]]
// DECOMPOSED: nn.conv {{.*}} {accumulator = i32, {{.*}}padding = array<i64: 0, 0, 0, 0>
// DECOMPOSED: nn.sub
func.func @padded(%x: tensor<1x2x4x4xui8>, %unused: tensor<1xi8>) -> tensor<1x2x4x4xi32> {
  %w = nn.constant dense<[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]], [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 3], [4, 5, 6], [7, 8, 8]]]]> : tensor<2x2x3x3xi8>
  %a = nn.constant dense<9> : tensor<ui8>
  %b = nn.constant dense<0> : tensor<i8>
  %r = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x2x4x4xui8>, tensor<2x2x3x3xi8>, tensor<ui8>, tensor<i8>
  return %r : tensor<1x2x4x4xi32>
}

// -----

// One filter for each channel, a constant.
// DECOMPOSED-LABEL: func.func @depthwise(
// DECOMPOSED: nn.conv {{.*}} {accumulator = i32, {{.*}}groups = 2 : i64{{.*}} : tensor<1x2x4x4xui8>, tensor<2x1x1x1xi8>
func.func @depthwise(%x: tensor<1x2x4x4xui8>, %a: tensor<ui8>) -> tensor<1x2x4x4xi32> {
  %w = nn.constant dense<[[[[3]]], [[[-4]]]]> : tensor<2x1x1x1xi8>
  %b = nn.constant dense<0> : tensor<i8>
  %r = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x2x4x4xui8>, tensor<2x1x1x1xi8>, tensor<ui8>, tensor<i8>
  return %r : tensor<1x2x4x4xi32>
}

// -----

// One that is computed, and several for a channel: exact sums in f32.
// DECOMPOSED-LABEL: func.func @depthwise_computed(
// DECOMPOSED: nn.conv {{.*}} : tensor<1x2x4x4xf32>, tensor<4x1x1x1xf32>
// DECOMPOSED: %[[Y:.*]] = nn.conv {{.*}} : tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>
// DECOMPOSED: nn.cast %[[Y]] : tensor<1x2x4x4xf32> to tensor<1x2x4x4xi32>
func.func @depthwise_computed(%x: tensor<1x2x4x4xui8>, %w: tensor<2x1x1x1xi8>, %a: tensor<ui8>) -> (tensor<1x2x4x4xi32>, tensor<1x4x4x4xi32>) {
  %v = nn.constant dense<3> : tensor<4x1x1x1xi8>
  %b = nn.constant dense<0> : tensor<i8>
  %s = nn.conv_integer %x, %v, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x2x4x4xui8>, tensor<4x1x1x1xi8>, tensor<ui8>, tensor<i8>
  %r = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x2x4x4xui8>, tensor<2x1x1x1xi8>, tensor<ui8>, tensor<i8>
  return %r, %s : tensor<1x2x4x4xi32>, tensor<1x4x4x4xi32>
}
