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
  %p = nn.constant dense<52> : tensor<256x392x1xui8>
  %places = nn.constant dense<[0, 4]> : tensor<2xui8>
  %shifted = nn.shr %p, %places : tensor<256x392x1xui8>, tensor<2xui8>
  %mask = nn.constant dense<15> : tensor<ui8>
  %codes = nn.and %shifted, %mask : tensor<256x392x2xui8>, tensor<ui8>
  %q = nn.reshape %codes : tensor<256x392x2xui8> to tensor<256x784xui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<1> : tensor<ui8>
  %w = nn.dequantize %q, %s, %z : tensor<256x784xui8>, tensor<f32>, tensor<ui8>
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<1x784xf32>, tensor<256x784xf32>
  return %0 : tensor<1x256xf32>
}
