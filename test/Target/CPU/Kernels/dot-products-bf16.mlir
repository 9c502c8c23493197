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
