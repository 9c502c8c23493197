// Products of bytes by the processor's matrix unit, where they are large enough to tell it its sizes.
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4-amx --split-input-file | FileCheck %s
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4-bf16 --split-input-file | FileCheck %s --check-prefix=DOTS

// DOTS-NOT: llvm.x86.tile
// DOTS-NOT: llvm.x86.tdp

// Two blocks of 35 rows are tiles of 12 rows, two of them a part: the next one's sums are computed before those of a part
// are read, and the last part begins 13 rows early. 140 bytes are two steps of 64, and 12 that dot products add.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-SAME: %[[SCRATCH:arg[0-9]+]]: memref<8192xi8>
// CHECK: %[[SUMS:.*]] = memref.view %[[SCRATCH]]
// CHECK-SAME: to memref<2048xi32>
// The palette, bytes of a row of the tiles 0 to 4, their rows.
// CHECK: arith.constant dense<[1, {{[0, ]*}}64, 0, 64, 0, 64, 0, 64, 0, 64, {{[0, ]*}}12, 12, 12, 16, 16, {{[0, ]*}}]> : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i8)
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.tilezero"(%[[ZERO]]) : (i8) -> ()
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK: %[[DISTANCE:.*]] = llvm.mlir.constant(140 : i64)
// CHECK: %[[LEFT:.*]] = llvm.mlir.constant(2 : i8)
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.tileloadd64"(%[[LEFT]], %{{.*}}, %[[DISTANCE]]) : (i8, !llvm.ptr, i64) -> ()
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"({{.*}}) : (i8, i8, i8) -> ()
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: scf.for
// CHECK: vector.load %[[SUMS]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: vector.store
// CHECK: arith.constant 13 : index
// CHECK: vector.load %[[SUMS]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"() : () -> ()
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: return
// DOTS-LABEL: func.func @kernel_0(
func.func @product(%x: tensor<70x140xui8>, %w: tensor<2x35x32x4xi8>) -> tensor<70x64xi32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<70x140xui8>, %b = %w : tensor<2x35x32x4xi8>) -> tensor<70x64xi32> {
    %1 = kernel.matmul_packed %a, %b {columns = 64 : i64} : tensor<70x140xui8>, tensor<2x35x32x4xi8>
    kernel.yield %1 : tensor<70x64xi32>
  }
  return %0 : tensor<70x64xi32>
}

// -----

// Rows that have padding in width are copied with it, 14 columns of 64 bytes, those of three rows of the result at a time:
// a row of 12 is a tile, and its sums are read after those of the next row are there. Three taps of 64 bytes are three
// steps of a row of the window.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-SAME: memref<12672xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: %[[COPIES:.*]] = memref.view
// CHECK-SAME: to memref<4480xi8>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[NONE:.*]] = arith.constant dense<0> : vector<64xi8>
// CHECK: vector.store %[[NONE]], %[[COPIES]]
// CHECK: %[[INSIDE:.*]] = arith.constant 768 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[INSIDE]]
// CHECK: vector.store %{{.*}}, %[[COPIES]]
// CHECK: %[[NONE:.*]] = arith.constant dense<0> : vector<64xi8>
// CHECK: vector.store %[[NONE]], %[[COPIES]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %c3{{[_0-9]*}} step
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: vector.load %{{.*}} : memref<2048xi32>, vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// DOTS-LABEL: func.func @kernel_0(
func.func @convolution(%x: tensor<1x12x12x64xui8>, %w: tensor<1x144x32x4xi8>) -> tensor<1x12x12x16xi32> {
  %0 = kernel.dispatch "conv" (%a = %x : tensor<1x12x12x64xui8>, %b = %w : tensor<1x144x32x4xi8>) -> tensor<1x12x12x16xi32> {
    %1 = kernel.conv_packed %a, %b {channels = 16 : i64, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : tensor<1x12x12x64xui8>, tensor<1x144x32x4xi8>
    kernel.yield %1 : tensor<1x12x12x16xi32>
  }
  return %0 : tensor<1x12x12x16xi32>
}

// -----

// Dot products take less time for too few rows, whose sums nothing would be computed beside; for four rows; and for short
// sums that a GELU follows, whose chains leave time for them.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-NOT: llvm.x86.ldtilecfg
// CHECK-LABEL: func.func @kernel_1(
// CHECK-NOT: llvm.x86.ldtilecfg
// CHECK-LABEL: func.func @kernel_2(
// CHECK-NOT: llvm.x86.ldtilecfg
// CHECK: return
func.func @small(%x: tensor<27x64xui8>, %y: tensor<4x1024xui8>, %z: tensor<80x64xui8>, %v: tensor<2x16x32x4xi8>, %w: tensor<2x256x32x4xi8>) -> (tensor<27x64xi32>, tensor<4x64xi32>, tensor<80x64xf32>) {
  %0 = kernel.dispatch "alone" (%a = %x : tensor<27x64xui8>, %b = %v : tensor<2x16x32x4xi8>) -> tensor<27x64xi32> {
    %3 = kernel.matmul_packed %a, %b {columns = 64 : i64} : tensor<27x64xui8>, tensor<2x16x32x4xi8>
    kernel.yield %3 : tensor<27x64xi32>
  }
  %1 = kernel.dispatch "few" (%a = %y : tensor<4x1024xui8>, %b = %w : tensor<2x256x32x4xi8>) -> tensor<4x64xi32> {
    %3 = kernel.matmul_packed %a, %b {columns = 64 : i64} : tensor<4x1024xui8>, tensor<2x256x32x4xi8>
    kernel.yield %3 : tensor<4x64xi32>
  }
  %2 = kernel.dispatch "function" (%a = %z : tensor<80x64xui8>, %b = %v : tensor<2x16x32x4xi8>) -> tensor<80x64xf32> {
    %3 = kernel.matmul_packed %a, %b {columns = 64 : i64} : tensor<80x64xui8>, tensor<2x16x32x4xi8>
    %4 = nn.cast %3 : tensor<80x64xi32> to tensor<80x64xf32>
    %5 = nn.erf %4 : tensor<80x64xf32>
    kernel.yield %5 : tensor<80x64xf32>
  }
  return %0, %1, %2 : tensor<27x64xi32>, tensor<4x64xi32>, tensor<80x64xf32>
}
