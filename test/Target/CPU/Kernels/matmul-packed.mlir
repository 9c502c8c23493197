// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v2 | FileCheck %s --check-prefixes=CHECK,V2

// Rows are cut in two, columns by panels: 2 x 8 tiles, whatever the instruction set. An inner loop of vectors alone: a
// register tile is 11 x 32 (22 registers of 32) for v4, 6 x 16 (12 of 16) for v3. The bias comes after the loop, there
// with four vectors at once, joined in pairs of one type.
// CHECK-LABEL: func.func @kernel_0(%arg0: index, %arg1: index, %arg2: memref<0xi8>, %arg3: !llvm.ptr
// CHECK-SAME: memref<64x784xf32>
// CHECK-SAME: sprig.tiles = 16 : i64
// CHECK: scf.for {{.*}} = %arg0 to %arg1
// V4: %{{.*}}:22 = scf.for {{.*}} iter_args
// V3: %{{.*}}:6 = scf.for {{.*}} iter_args
// V2: %{{.*}}:2 = scf.for {{.*}} iter_args
// V4: vector.load {{.*}} vector<16xf32>
// V4: vector.load {{.*}} vector<16xf32>
// V4-NOT: {{arith\.(mulf|addf)|vector\.load}}
// V4-COUNT-22: math.fma
// V4-NOT: {{arith\.(mulf|addf)|(math\.fma|vector\.load)}}
// V4: scf.yield
// V3: vector.load {{.*}} vector<16xf32>
// V3-NOT: {{arith\.(mulf|addf)|vector\.load}}
// V3-COUNT-6: math.fma
// V3-NOT: {{arith\.(mulf|addf)|(math\.fma|vector\.load)}}
// V3: scf.yield
// V2-NOT: math.fma
// V2: arith.mulf {{.*}} vector<16xf32>
// V2-NEXT: arith.addf {{.*}} vector<16xf32>
// V2: scf.yield
// V4: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// V4: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// V4: vector.shuffle {{.*}} : vector<32xf32>, vector<32xf32>
// CHECK: arith.addf {{.*}} vector<{{16|32|64}}xf32>
// CHECK: vector.store
// CHECK: return %{{.*}} : i32
func.func @bias_relu(%x: tensor<64x784xf32>, %p: tensor<8x784x32xf32>, %b: tensor<256xf32>) -> tensor<64x256xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<64x784xf32>, %p0 = %p : tensor<8x784x32xf32>, %b0 = %b : tensor<256xf32>) -> tensor<64x256xf32> {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 256 : i64} : tensor<64x784xf32>, tensor<8x784x32xf32>
    %1 = nn.add %0, %b0 : tensor<64x256xf32>, tensor<256xf32>
    %2 = nn.relu %1 : tensor<64x256xf32>
    kernel.yield %2 : tensor<64x256xf32>
  }
  return %r : tensor<64x256xf32>
}

// One row: four panels at once, 128 columns.
// CHECK-LABEL: func.func @kernel_1
// CHECK-SAME: sprig.tiles = 2 : i64
// V4: %{{.*}}:8 = scf.for {{.*}} iter_args
// V3: %{{.*}}:4 = scf.for {{.*}} iter_args
// CHECK: return
func.func @one_row(%x: tensor<1x784xf32>, %p: tensor<8x784x32xf32>) -> tensor<1x256xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<1x784xf32>, %p0 = %p : tensor<8x784x32xf32>) -> tensor<1x256xf32> {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 256 : i64} : tensor<1x784xf32>, tensor<8x784x32xf32>
    kernel.yield %0 : tensor<1x256xf32>
  }
  return %r : tensor<1x256xf32>
}

// Ten columns: one vector, of which ten lanes are stored; the residual is read with the same mask.
// CHECK-LABEL: func.func @kernel_2
// CHECK-SAME: sprig.tiles = 1 : i64
// CHECK: arith.constant dense<[true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false]>
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: vector.store
// CHECK: return
func.func @tail(%x: tensor<5x64xf32>, %p: tensor<1x64x32xf32>, %y: tensor<5x10xf32>) -> tensor<5x10xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<5x64xf32>, %p0 = %p : tensor<1x64x32xf32>, %y0 = %y : tensor<5x10xf32>) -> tensor<5x10xf32> {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 10 : i64} : tensor<5x64xf32>, tensor<1x64x32xf32>
    %1 = nn.add %0, %y0 : tensor<5x10xf32>, tensor<5x10xf32>
    kernel.yield %1 : tensor<5x10xf32>
  }
  return %r : tensor<5x10xf32>
}

// Nothing to do.
// CHECK-LABEL: func.func @kernel_3
// CHECK-SAME: sprig.tiles = 0 : i64
// CHECK-NOT: vector.store
// CHECK: return
func.func @no_rows(%x: tensor<0x64xf32>, %p: tensor<1x64x32xf32>) -> tensor<0x10xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<0x64xf32>, %p0 = %p : tensor<1x64x32xf32>) -> tensor<0x10xf32> {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 10 : i64} : tensor<0x64xf32>, tensor<1x64x32xf32>
    kernel.yield %0 : tensor<0x10xf32>
  }
  return %r : tensor<0x10xf32>
}

// bf16 accumulates in f32 and is rounded once by integer operations, then again after the sum.
// CHECK-LABEL: func.func @kernel_4
// CHECK-NOT: arith.truncf
// V4: math.fma {{.*}} vector<16xf32>
// CHECK: arith.shrui
// CHECK: arith.addf {{.*}} vector<{{16|32|64}}xf32>
// CHECK: arith.shrui
// CHECK: vector.store {{.*}} vector<16xbf16>
func.func @halves(%x: tensor<2x64xbf16>, %p: tensor<1x64x32xbf16>, %b: tensor<32xbf16>) -> tensor<2x32xbf16> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<2x64xbf16>, %p0 = %p : tensor<1x64x32xbf16>, %b0 = %b : tensor<32xbf16>) -> tensor<2x32xbf16> {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 32 : i64} : tensor<2x64xbf16>, tensor<1x64x32xbf16>
    %1 = nn.add %0, %b0 : tensor<2x32xbf16>, tensor<32xbf16>
    kernel.yield %1 : tensor<2x32xbf16>
  }
  return %r : tensor<2x32xbf16>
}
