// Weights of a few bits stay so: codes in words of neighbouring rows, scales and zero points of groups beside them.
// RUN: sprig-opt %s --sprig-pack-narrow --split-input-file | FileCheck %s
// RUN: sprig-opt %s --sprig-pack-narrow=strict --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: sprig-opt %s --sprig-pack-narrow --split-input-file -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Nine rows in two words: the fifth is above the first, the ninth alone. A splat is one zero point for all.
// CHECK-LABEL: func.func @one_scale
// CHECK: %[[W:.*]] = nn.constant dense<"0x5142738400000000{{0+}}0F000000{{0+}}"> : tensor<1x2x32x4xui8>
// CHECK: kernel.matmul_narrow %arg0, %[[W]], %{{.*}} {bits = 4 : i64, columns = 1 : i64, group = 9 : i64, zero = 2 : i64} : tensor<2x9xf32>, tensor<1x2x32x4xui8>, tensor<1x1x32xf32>
func.func @one_scale(%x: tensor<2x9xf32>) -> tensor<2x1xf32> {
  %q = nn.constant dense<[[1], [2], [3], [4], [5], [4], [7], [8], [15]]> : tensor<9x1xui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<2> : tensor<ui8>
  %w = nn.dequantize %q, %s, %z : tensor<9x1xui8>, tensor<f32>, tensor<ui8>
  %r = nn.matmul %x, %w : tensor<2x9xf32>, tensor<9x1xf32>
  return %r : tensor<2x1xf32>
}

// -----

// Two groups of a column, which lies in a row; signed codes begin at -8.
// CHECK-LABEL: func.func @groups
// CHECK-DAG: nn.constant dense<"0x00F00FF0{{0+}}88888888{{0+}}"> : tensor<1x2x32x4xui8>
// CHECK-DAG: nn.constant dense<{{\[\[\[}}5.000000e-01, 0.000000e+00, {{.*}}], [2.500000e-01, 0.000000e+00, {{.*}} : tensor<1x2x32xf32>
// CHECK-DAG: nn.constant dense<{{\[\[\[}}8, 0, {{.*}}], [9, 0, {{.*}} : tensor<1x2x32xui8>
// CHECK: kernel.matmul_narrow {{.*}} {bits = 4 : i64, columns = 1 : i64, group = 8 : i64} : tensor<2x16xf32>, tensor<1x2x32x4xui8>, tensor<1x2x32xf32>, tensor<1x2x32xui8>
func.func @groups(%x: tensor<2x16xf32>) -> tensor<2x1xf32> {
  %q = nn.constant dense<[[[-8, -8, 7, -8, -8, 7, -8, 7], [0, 0, 0, 0, 0, 0, 0, 0]]]> : tensor<1x2x8xi8>
  %s = nn.constant dense<[[[0.5], [0.25]]]> : tensor<1x2x1xf32>
  %z = nn.constant dense<[[[0], [1]]]> : tensor<1x2x1xi8>
  %d = nn.dequantize %q, %s, %z : tensor<1x2x8xi8>, tensor<1x2x1xf32>, tensor<1x2x1xi8>
  %w = nn.reshape %d : tensor<1x2x8xf32> to tensor<1x16xf32>
  %r = nn.matmul %x, %w {transpose_rhs} : tensor<2x16xf32>, tensor<1x16xf32>
  return %r : tensor<2x1xf32>
}

// -----

// Numbers that four bits do not hold have eight.
// CHECK-LABEL: func.func @bytes
// CHECK: kernel.matmul_narrow {{.*}} {bits = 8 : i64, columns = 2 : i64, group = 3 : i64, zero = 128 : i64} : tensor<2x3xf32>, tensor<1x1x32x4xui8>, tensor<1x1x32xf32>
func.func @bytes(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %q = nn.constant dense<[[1, 2], [3, -4], [5, 100]]> : tensor<3x2xi8>
  %s = nn.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %z = nn.constant dense<0> : tensor<i8>
  %w = nn.dequantize %q, %s, %z : tensor<3x2xi8>, tensor<2xf32>, tensor<i8>
  %r = nn.matmul %x, %w : tensor<2x3xf32>, tensor<3x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// A scale of each row, and what is no product of f32.
// CHECK-LABEL: func.func @others
// CHECK-NOT: kernel
// CHECK: return
// WHY: [Missed] pack-narrow | Category:fuse | Remark="the weights of ", Remark=nn.matmul, Remark=" become f32: ", Remark="a scale is of 1 rows, which 8 does not divide"
func.func @others(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) -> (tensor<2x2xf32>, tensor<2x2xf64>) {
  %q = nn.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %s = nn.constant dense<[[0.5], [2.0], [1.0]]> : tensor<3x1xf32>
  %t = nn.constant dense<2.0> : tensor<f64>
  %z = nn.constant dense<0> : tensor<i8>
  %w = nn.dequantize %q, %s, %z : tensor<3x2xi8>, tensor<3x1xf32>, tensor<i8>
  %r = nn.matmul %x, %w : tensor<2x3xf32>, tensor<3x2xf32>
  %v = nn.dequantize %q, %t, %z : tensor<3x2xi8>, tensor<f64>, tensor<i8>
  %p = nn.matmul %y, %v : tensor<2x3xf64>, tensor<3x2xf64>
  return %r, %p : tensor<2x2xf32>, tensor<2x2xf64>
}

// -----

// Activations of eight bits with scales of the same groups: sums of integers.
// CHECK-LABEL: func.func @both
// CHECK: %[[Q:.*]] = nn.reshape %arg0 : tensor<3x2x8xi8> to tensor<3x16xi8>
// CHECK: %[[S:.*]] = nn.reshape %arg1 : tensor<3x2x1xf32> to tensor<3x2xf32>
// CHECK: kernel.matmul_narrow_dot %[[Q]], %[[S]], %{{.*}}, %{{.*}} {columns = 1 : i64, group = 8 : i64, zero = 8 : i64} : tensor<3x16xi8>, tensor<3x2xf32>, tensor<1x2x32x4xui8>, tensor<1x2x32xf32>
// STRICT-LABEL: func.func @both
// STRICT: kernel.matmul_narrow %
func.func @both(%q: tensor<3x2x8xi8>, %t: tensor<3x2x1xf32>) -> tensor<3x1xf32> {
  %o = nn.constant dense<0> : tensor<i8>
  %e = nn.dequantize %q, %t, %o : tensor<3x2x8xi8>, tensor<3x2x1xf32>, tensor<i8>
  %x = nn.reshape %e : tensor<3x2x8xf32> to tensor<3x16xf32>
  %w = nn.constant dense<[[[0, 8, 15, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0, 0, 9]]]> : tensor<1x2x8xui8>
  %s = nn.constant dense<[[[0.5], [0.25]]]> : tensor<1x2x1xf32>
  %z = nn.constant dense<8> : tensor<ui8>
  %d = nn.dequantize %w, %s, %z : tensor<1x2x8xui8>, tensor<1x2x1xf32>, tensor<ui8>
  %v = nn.reshape %d : tensor<1x2x8xf32> to tensor<1x16xf32>
  %r = nn.matmul %x, %v {transpose_rhs} : tensor<3x16xf32>, tensor<1x16xf32>
  return %r : tensor<3x1xf32>
}
