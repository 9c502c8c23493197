// An optimizer's update on the accumulators of a weight's gradient: its operands are fetched while the product runs, whose
// loops keep their accumulators in registers; then a loop over the rows, of 32 registers two at a time, which reads scalars no
// more, computes quotients and roots of whole vectors.
// RUN: %sprig compile %s --no-merge --cpu x86-64-v4 --emit asm > %t.v4
// RUN: %python %S/Inputs/hot-loops.py %t.v4 | FileCheck %s --check-prefix=V4
// RUN: FileCheck %s --check-prefix=ASM --input-file %t.v4
// RUN: %sprig compile %s --no-merge --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

// Some steps with the fetches of a row before them, then the others.
// V4: loop {{.*}} 28 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V4: loop {{.*}} 28 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V4: loop {{.*}} 0 fma, 16 vector loads, 12 vector stores, 0 stack, 0 calls, 0 scalar float
// V4-NOT: {{[1-9][0-9]* fma, .* [1-9][0-9]* stack}}
// V3: loop {{.*}} 12 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: loop {{.*}} 0 fma, 8 vector loads, 6 vector stores, 0 stack, 0 calls, 0 scalar float
// V3-NOT: {{[1-9][0-9]* fma, .* [1-9][0-9]* stack}}

// ASM: prefetcht0
// ASM-NOT: {{vdivss|vsqrtss|vrcp|vrsqrt}}
// ASM: vsqrtps %zmm
// ASM-NOT: {{vdivss|vsqrtss|vrcp|vrsqrt}}
// ASM: vdivps %zmm
// ASM-NOT: {{vdivss|vsqrtss|vrcp|vrsqrt}}
func.func @update(%x: tensor<64x800xf32> {nn.name = "x"}, %dy: tensor<64x256xf32> {nn.name = "dy"},
                  %w: tensor<256x800xf32> {nn.name = "w"}, %m: tensor<256x800xf32> {nn.name = "m"},
                  %v: tensor<256x800xf32> {nn.name = "v"}, %keep: tensor<f32> {nn.name = "keep"},
                  %rest: tensor<f32> {nn.name = "rest"}, %rate: tensor<f32> {nn.name = "rate"})
    -> (tensor<256x800xf32> {nn.name = "w1"}, tensor<256x800xf32> {nn.name = "m1"}, tensor<256x800xf32> {nn.name = "v1"}) {
  %epsilon = nn.constant dense<1.0e-08> : tensor<f32>
  %g = nn.matmul %dy, %x {transpose_lhs} : tensor<64x256xf32>, tensor<64x800xf32>
  %0 = nn.mul %m, %keep : tensor<256x800xf32>, tensor<f32>
  %1 = nn.mul %g, %rest : tensor<256x800xf32>, tensor<f32>
  %m1 = nn.add %0, %1 : tensor<256x800xf32>, tensor<256x800xf32>
  %2 = nn.mul %v, %keep : tensor<256x800xf32>, tensor<f32>
  %3 = nn.mul %g, %g : tensor<256x800xf32>, tensor<256x800xf32>
  %4 = nn.mul %3, %rest : tensor<256x800xf32>, tensor<f32>
  %v1 = nn.add %2, %4 : tensor<256x800xf32>, tensor<256x800xf32>
  %5 = nn.sqrt %v1 : tensor<256x800xf32>
  %6 = nn.add %5, %epsilon : tensor<256x800xf32>, tensor<f32>
  %7 = nn.div %m1, %6 : tensor<256x800xf32>, tensor<256x800xf32>
  %8 = nn.mul %7, %rate : tensor<256x800xf32>, tensor<f32>
  %w1 = nn.sub %w, %8 : tensor<256x800xf32>, tensor<256x800xf32>
  return %w1, %m1, %v1 : tensor<256x800xf32>, tensor<256x800xf32>, tensor<256x800xf32>
}
