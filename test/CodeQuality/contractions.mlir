// The inner loops of products: a fused multiply-add for each register of the tile (its rows times its vectors, and a rest
// of fewer rows), nothing on the stack, no calls.
// RUN: %sprig compile %s --no-merge --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --no-merge --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

// 64 rows: tiles of 11 x 32 and a rest of 10 with 32 registers, 6 x 16 and 5 x 16 with 16.
// V4: kernel_matmul_packed: loop {{.*}} 22 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V4: kernel_matmul_packed: loop {{.*}} 20 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_matmul_packed: loop {{.*}} 12 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_matmul_packed: loop {{.*}} 10 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
func.func @wide(%x: tensor<64x784xf32> {nn.name = "x"}) -> (tensor<64x256xf32> {nn.name = "y"}) {
  %w = nn.constant dense<0.5> : tensor<784x256xf32>
  %0 = nn.matmul %x, %w : tensor<64x784xf32>, tensor<784x256xf32>
  return %0 : tensor<64x256xf32>
}

// One row: 128 columns at once, weights straight from memory into the operation.
// V4: kernel_matmul_packed_0: loop {{.*}} 8 fma, 9 vector loads, 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_matmul_packed_0: loop {{.*}} 8 fma, 9 vector loads, 0 vector stores, 0 stack, 0 calls, 0 scalar float
func.func @row(%x: tensor<1x784xf32> {nn.name = "x"}) -> (tensor<1x256xf32> {nn.name = "y"}) {
  %w = nn.constant dense<0.5> : tensor<784x256xf32>
  %0 = nn.matmul %x, %w : tensor<1x784xf32>, tensor<784x256xf32>
  return %0 : tensor<1x256xf32>
}

// Neither operand is known when the code is made: the second is read where it lies.
// V4: kernel_matmul: loop {{.*}} 28 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V4: kernel_matmul: loop {{.*}} 26 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_matmul: loop {{.*}} 12 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
func.func @both_at_run_time(%x: tensor<96x64xf32> {nn.name = "x"}, %w: tensor<64x96xf32> {nn.name = "w"}) -> (tensor<96x96xf32> {nn.name = "y"}) {
  %0 = nn.matmul %x, %w : tensor<96x64xf32>, tensor<64x96xf32>
  return %0 : tensor<96x96xf32>
}

// Weights of four bits, taken apart in registers: eight rows of four vectors in a step.
// V4: kernel_matmul_narrow: loop {{.*}} 32 fma, {{.*}} 0 vector stores, 0 stack, 0 calls, 0 scalar float
func.func @narrow(%x: tensor<1x784xf32> {nn.name = "x"}) -> (tensor<1x256xf32> {nn.name = "y"}) {
  %q = nn.constant dense<3> : tensor<784x256xui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<1> : tensor<ui8>
  %w = nn.dequantize %q, %s, %z : tensor<784x256xui8>, tensor<f32>, tensor<ui8>
  %0 = nn.matmul %x, %w : tensor<1x784xf32>, tensor<784x256xf32>
  return %0 : tensor<1x256xf32>
}
