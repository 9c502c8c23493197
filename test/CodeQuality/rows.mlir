// Rows are reduced in blocks, as vectors: no calls, no arithmetic on single elements.
// RUN: %sprig compile %s --no-merge --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --no-merge --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

// V4: kernel_reduce_sub_exp_reduce_reciprocal_mul: loop {{.*}} 64 fma, {{.*}} 0 stack, 0 calls, 0 scalar float
// V4-NOT: {{[1-9]}} calls
// V4-NOT: {{[1-9][0-9]*}} scalar float
// V3: kernel_reduce_sub_exp_reduce_reciprocal_mul: loop {{.*}} 128 fma, {{.*}} 0 calls, 0 scalar float
// V3-NOT: {{[1-9]}} calls
// V3-NOT: {{[1-9][0-9]*}} scalar float
func.func @softmax(%x: tensor<64x128xf32> {nn.name = "x"}) -> (tensor<64x128xf32> {nn.name = "y"}) {
  %0 = nn.softmax %x axis = 1 : tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
func.func @row_sums(%x: tensor<64x128xf32> {nn.name = "x"}) -> (tensor<64xf32> {nn.name = "y"}) {
  %0 = nn.reduce sum %x axes = [1] {keepdims = false} : tensor<64x128xf32>
  return %0 : tensor<64xf32>
}
