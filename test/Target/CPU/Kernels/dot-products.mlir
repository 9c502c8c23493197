// Products of bytes: one instruction for four of them, or two on words where a processor has none for bytes.
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4-vnni --split-input-file | FileCheck %s --check-prefixes=CHECK,DOT512
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 --split-input-file | FileCheck %s --check-prefixes=CHECK,WORDS,WORDS512
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v3-vnni --split-input-file | FileCheck %s --check-prefixes=CHECK,DOT256
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v3 --split-input-file | FileCheck %s --check-prefixes=CHECK,WORDS,WORDS256
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v2 --split-input-file | FileCheck %s --check-prefixes=CHECK,WORDS,WORDS128

// Two rows of 19 bytes: four steps of four bytes, and one of three, which are read byte by byte.
// CHECK-LABEL: func.func @kernel_0(
// CHECK: scf.for
// CHECK: %[[FOUR:.*]] = vector.load %{{.*}} : memref<{{.*}}xi8>, vector<4xi8>
// CHECK: vector.bitcast %[[FOUR]] : vector<4xi8> to vector<1xi32>
// DOT512: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// DOT256-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"({{.*}}) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
// WORDS: arith.shrui {{.*}} : vector<32xi16>
// WORDS512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// WORDS256-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// WORDS128-COUNT-8: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
// CHECK: scf.yield
// CHECK-COUNT-3: memref.load %{{.*}} : memref<{{.*}}xi8>
func.func @product(%x: tensor<2x19xui8>, %w: tensor<1x5x32x4xi8>) -> tensor<2x16xi32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<2x19xui8>, %b = %w : tensor<1x5x32x4xi8>) -> tensor<2x16xi32> {
    %1 = kernel.matmul_packed %a, %b {columns = 16 : i64} : tensor<2x19xui8>, tensor<1x5x32x4xi8>
    kernel.yield %1 : tensor<2x16xi32>
  }
  return %0 : tensor<2x16xi32>
}

// One filter for each channel: the taps of four rows become words in scratch memory, where a row lies in the padding with
// what that counts as; then three words for each column of the window are multiplied, 16 channels at once, for the row of
// the result that the first three rows make, and by the filter a byte further for the next one.
// CHECK-LABEL: func.func @kernel_1(
// CHECK: memref.view
// CHECK: scf.if
// CHECK-COUNT-4: vector.load %{{.*}} : memref<{{.*}}xi8>
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}} : memref<{{.*}}xi32>
// CHECK: } else {
// CHECK: arith.constant dense<9> : vector<{{.*}}xi8>
// CHECK: arith.select
// CHECK: vector.load %{{.*}} : memref<{{.*}}xi32>, vector<16xi32>
// DOT512-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// WORDS512-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// CHECK: arith.constant dense<8> : vector<16xi32>
// CHECK: arith.shli
// CHECK: return
func.func @depthwise(%x: tensor<1x9x7x64xui8>, %w: tensor<1x3x64x4xi8>) -> tensor<1x9x7x64xi32> {
  %0 = kernel.dispatch "conv" (%a = %x : tensor<1x9x7x64xui8>, %b = %w : tensor<1x3x64x4xi8>) -> tensor<1x9x7x64xi32> {
    %1 = kernel.conv_depthwise_dot %a, %b {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, fill = 9 : i64} : tensor<1x9x7x64xui8>, tensor<1x3x64x4xi8>
    kernel.yield %1 : tensor<1x9x7x64xi32>
  }
  return %0 : tensor<1x9x7x64xi32>
}

// What is added to the sums column by column is what they begin with.
// CHECK-LABEL: func.func @kernel_2(
// CHECK: arith.addi {{.*}} : vector<16xi32>
// CHECK: arith.subi {{.*}} : vector<16xi32>
// CHECK: scf.for
// CHECK: scf.yield
// CHECK-NOT: arith.addi %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp
// CHECK: return
func.func @bias(%x: tensor<2x20xui8>, %w: tensor<1x5x32x4xi8>, %p: tensor<16xi32>, %q: tensor<1x16xi32>) -> tensor<2x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<2x20xui8>, %b = %w : tensor<1x5x32x4xi8>, %c = %p : tensor<16xi32>, %d = %q : tensor<1x16xi32>) -> tensor<2x16xf32> {
    %1 = kernel.matmul_packed %a, %b {columns = 16 : i64} : tensor<2x20xui8>, tensor<1x5x32x4xi8>
    %2 = nn.add %1, %c : tensor<2x16xi32>, tensor<16xi32>
    %3 = nn.sub %2, %d : tensor<2x16xi32>, tensor<1x16xi32>
    %4 = nn.cast %3 : tensor<2x16xi32> to tensor<2x16xf32>
    kernel.yield %4 : tensor<2x16xf32>
  }
  return %0 : tensor<2x16xf32>
}

// -----

// Bytes of four bits: two codes from each; the row's own sum, for the lowest, beside the columns'. Seventeen factors are
// two words and one more.
// CHECK-LABEL: func.func @kernel_0(
// CHECK: scf.for
// CHECK: arith.shrui {{.*}} : vector<16xi32>
// CHECK: arith.andi
// DOT512-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// WORDS512-COUNT-8: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// CHECK: scf.yield
// DOT512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// DOT512-NOT: llvm.call_intrinsic
// CHECK: arith.muli
func.func @halves(%x: tensor<1x17xui8>, %w: tensor<1x3x32x4xui8>) -> tensor<1x16xi32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<1x17xui8>, %b = %w : tensor<1x3x32x4xui8>) -> tensor<1x16xi32> {
    %1 = kernel.matmul_packed %a, %b {columns = 16 : i64, lowest = -8 : i64} : tensor<1x17xui8>, tensor<1x3x32x4xui8>
    kernel.yield %1 : tensor<1x16xi32>
  }
  return %0 : tensor<1x16xi32>
}
