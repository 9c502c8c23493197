// Products of bf16 in f32: one instruction for two of them, or two multiply-adds between changes of the control register.
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4-bf16 | FileCheck %s --check-prefixes=CHECK,DOT512
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,FMA,FMA512
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,FMA,FMA256

// Two rows of 5: two steps of two, and one of one.
// CHECK-LABEL: func.func @kernel_0(
// FMA: %[[SAVED:.*]] = llvm.alloca
// FMA: llvm.inline_asm has_side_effects "stmxcsr ($0){{.*}}orl $$0x8040, %eax{{.*}}ldmxcsr 4($0)"{{.*}} %[[SAVED]]
// FMA512: llvm.inline_asm has_side_effects "", "=v,0" %{{.*}} : (vector<16xf32>) -> vector<16xf32>
// FMA256-COUNT-2: llvm.inline_asm has_side_effects "", "=v,0" %{{.*}} : (vector<8xf32>) -> vector<8xf32>
// CHECK: scf.for
// CHECK: %[[TWO:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16>, vector<2xbf16>
// CHECK: vector.bitcast %[[TWO]] : vector<2xbf16> to vector<1xi32>
// DOT512: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// FMA-COUNT-2: math.fma {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK: memref.load %{{.*}} : memref<{{.*}}xbf16>
// FMA-COUNT-2: math.fma {{.*}} : vector<16xf32>
// FMA512: llvm.inline_asm has_side_effects "", "=v,0"
// FMA: llvm.inline_asm has_side_effects "ldmxcsr ($0)"{{.*}} %[[SAVED]]
func.func @product(%x: tensor<2x5xbf16>, %w: tensor<1x3x32x2xbf16>) -> tensor<2x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<2x5xbf16>, %b = %w : tensor<1x3x32x2xbf16>) -> tensor<2x16xf32> {
    %1 = kernel.matmul_packed %a, %b {columns = 16 : i64} : tensor<2x5xbf16>, tensor<1x3x32x2xbf16>
    kernel.yield %1 : tensor<2x16xf32>
  }
  return %0 : tensor<2x16xf32>
}

// Where five rows or more are multiplied without the instruction, those of a register tile become f32 first, 256 of each row
// at a time: 300 are a part of 256 and one of 44, and the chain goes on from the first to the second.
// CHECK-LABEL: func.func @kernel_1(
// FMA: %[[WIDE:.*]] = memref.view
// FMA-SAME: to memref<3808xf32>
// FMA: scf.for
// FMA: vector.load %{{.*}} : memref<{{.*}}xbf16>
// FMA: vector.store %{{.*}}, %[[WIDE]]
// FMA: %[[STEPS:.*]] = arith.constant 128 : index
// FMA: scf.for %{{.*}} = %{{.*}} to %[[STEPS]]
// FMA: memref.load %[[WIDE]]
// FMA: memref.load %[[WIDE]]
// FMA-COUNT-2: math.fma
// FMA: arith.constant 22 : index
// FMA: memref.load %[[WIDE]]
// DOT512-NOT: memref.view
// CHECK: return
func.func @rows(%x: tensor<6x300xbf16>, %w: tensor<1x150x32x2xbf16>) -> tensor<6x16xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<6x300xbf16>, %b = %w : tensor<1x150x32x2xbf16>) -> tensor<6x16xf32> {
    %1 = kernel.matmul_packed %a, %b {columns = 16 : i64} : tensor<6x300xbf16>, tensor<1x150x32x2xbf16>
    kernel.yield %1 : tensor<6x16xf32>
  }
  return %0 : tensor<6x16xf32>
}
