// Products with numbers of a few bits: few rows take them apart in registers, more have a panel unpacked first.
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4-vnni --split-input-file | FileCheck %s --check-prefix=DOT
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 --split-input-file | FileCheck %s

// Nineteen rows of the matrix are two words of eight and one of three. Of a word five codes lie low enough for the
// mantissa, the others after a shift; each is masked there, less its place's number and the zero point, times the scale.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-NOT: memref.store
// CHECK-DAG: arith.constant dense<0x4B000008> : vector<16xf32>
// CHECK-DAG: arith.constant dense<5.242960e+05> : vector<16xf32>
// CHECK-DAG: arith.constant dense<3.277600e+04> : vector<16xf32>
// CHECK-DAG: arith.constant dense<2.056000e+03> : vector<16xf32>
// CHECK-DAG: arith.constant dense<1.360000e+02> : vector<16xf32>
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<64xi8>
// CHECK: arith.shrui {{.*}} : vector<16xi32>
// CHECK-COUNT-8: math.fma
// CHECK: scf.yield
// CHECK-COUNT-3: math.fma
// CHECK-NOT: math.fma
func.func @row(%x: tensor<1x19xf32>, %w: tensor<1x3x32x4xui8>, %s: tensor<1x1x32xf32>) -> tensor<1x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<1x19xf32>, %b = %w : tensor<1x3x32x4xui8>, %c = %s : tensor<1x1x32xf32>) -> tensor<1x16xf32> {
    %1 = kernel.matmul_narrow %a, %b, %c {columns = 16 : i64, bits = 4 : i64, group = 19 : i64, zero = 8 : i64} : tensor<1x19xf32>, tensor<1x3x32x4xui8>, tensor<1x1x32xf32>
    kernel.yield %1 : tensor<1x16xf32>
  }
  return %0 : tensor<1x16xf32>
}

// -----

// Zero points of a group are bytes, converted once for its rows.
// CHECK-LABEL: func.func @kernel_0(
// CHECK: scf.for
// CHECK: arith.extui {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: arith.sitofp
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: math.fma
func.func @zeros(%x: tensor<2x32xf32>, %w: tensor<1x4x32x4xui8>, %s: tensor<1x2x32xf32>, %z: tensor<1x2x32xui8>) -> tensor<2x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<2x32xf32>, %b = %w : tensor<1x4x32x4xui8>, %c = %s : tensor<1x2x32xf32>, %d = %z : tensor<1x2x32xui8>) -> tensor<2x16xf32> {
    %1 = kernel.matmul_narrow %a, %b, %c, %d {columns = 16 : i64, bits = 4 : i64, group = 16 : i64} : tensor<2x32xf32>, tensor<1x4x32x4xui8>, tensor<1x2x32xf32>, tensor<1x2x32xui8>
    kernel.yield %1 : tensor<2x16xf32>
  }
  return %0 : tensor<2x16xf32>
}

// -----

// Nine rows: the panel's twenty lie in scratch memory first.
// CHECK-LABEL: func.func @kernel_0(
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}} : memref<640xf32>, vector<16xf32>
// CHECK: vector.load {{.*}} : memref<640xf32>, vector<16xf32>
// CHECK: math.fma
func.func @rows(%x: tensor<9x20xf32>, %w: tensor<1x3x32x4xui8>, %s: tensor<1x1x32xf32>) -> tensor<9x32xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<9x20xf32>, %b = %w : tensor<1x3x32x4xui8>, %c = %s : tensor<1x1x32xf32>) -> tensor<9x32xf32> {
    %1 = kernel.matmul_narrow %a, %b, %c {columns = 32 : i64, bits = 4 : i64, group = 20 : i64} : tensor<9x20xf32>, tensor<1x3x32x4xui8>, tensor<1x1x32xf32>
    kernel.yield %1 : tensor<9x32xf32>
  }
  return %0 : tensor<9x32xf32>
}

// -----

// Bytes times codes: sums of a group in integers, of the row's bytes times the zero point beside them; then the product
// of both scales.
// CHECK-LABEL: func.func @kernel_0(
// DOT-LABEL: func.func @groups
// DOT-LABEL: func.func @kernel_0(
// DOT: scf.for
// DOT-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// DOT-NOT: llvm.call_intrinsic
// DOT: arith.subi
// DOT: arith.sitofp
// DOT: math.fma
// DOT: scf.yield
func.func @groups(%x: tensor<1x64xi8>, %t: tensor<1x2xf32>, %w: tensor<1x8x32x4xui8>, %s: tensor<1x2x32xf32>) -> tensor<1x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<1x64xi8>, %b = %t : tensor<1x2xf32>, %c = %w : tensor<1x8x32x4xui8>, %d = %s : tensor<1x2x32xf32>) -> tensor<1x16xf32> {
    %1 = kernel.matmul_narrow_dot %a, %b, %c, %d {columns = 16 : i64, group = 32 : i64, zero = 8 : i64} : tensor<1x64xi8>, tensor<1x2xf32>, tensor<1x8x32x4xui8>, tensor<1x2x32xf32>
    kernel.yield %1 : tensor<1x16xf32>
  }
  return %0 : tensor<1x16xf32>
}
