// RUN: sprig-opt %s --sprig-decompose --sprig-unroll-scans --sprig-widen-products --sprig-scans --sprig-pack --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v4-vnni | FileCheck %s --check-prefix=DOTS
// RUN: sprig-opt %s --sprig-decompose --sprig-unroll-scans --sprig-widen-products --sprig-scans --sprig-pack --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v3 | FileCheck %s --check-prefix=HALVES

// A state that is rounded to bytes by the range of all rows before each step: the extremes of two rows in one loop each,
// the scale once, the bytes, then products of bytes, four at once where the processor has them. Else few rows lie as
// halves of four bits: products of pairs, which stay in 16 bits for 8 steps of four bytes.
// DOTS-LABEL: func.func @kernel_{{[0-9]+}}({{.*}}memref<9x2x40xf32>) -> i32
// DOTS-SAME: sprig.tiles = 1 : i64
// DOTS-COUNT-2: arith.minimumf
// DOTS: arith.maximumf
// DOTS: arith.divf
// DOTS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// DOTS: math.exp
// HALVES-LABEL: func.func @kernel_{{[0-9]+}}({{.*}}memref<9x2x40xf32>) -> i32
// HALVES-NOT: vpdpbusd
// HALVES: vector.shuffle
// HALVES: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"({{.*}}) : (vector<32xi8>, vector<32xi8>) -> vector<16xi16>
// HALVES: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// HALVES: math.exp
func.func @bytes(%x: tensor<9x2x8xf32>, %h: tensor<2x40xf32>, %c: tensor<2x40xf32>) -> tensor<9x2x40xf32> {
  %w = nn.constant dense<3> : tensor<8x160xi8>
  %r = nn.constant dense<5> : tensor<40x160xi8>
  %s = nn.constant dense<0.01> : tensor<f32>
  %z = nn.constant dense<0> : tensor<i8>
  %y, %last_h, %last_c = nn.lstm_integer %x, %w, %r scales %s, %z, %s, %z from %h, %c : tensor<9x2x8xf32>, tensor<8x160xi8>, tensor<40x160xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x40xf32>, tensor<2x40xf32>
  return %y : tensor<9x2x40xf32>
}
