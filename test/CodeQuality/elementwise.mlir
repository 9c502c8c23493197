// Polynomials run on whole vectors: four at once where a vector is one register, two where it takes two of 16. No calls, no
// arithmetic on single elements, and with 32 registers nothing on the stack.
// RUN: %sprig compile %s --no-merge --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --no-merge --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

// V4: kernel_tanh_0: loop {{.*}} 40 fma, 4 vector loads, 4 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_tanh_0: loop {{.*}} 40 fma, {{.*}} 0 calls, 0 scalar float
func.func @tanh(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.tanh %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// V4: kernel_exp_1: loop {{.*}} 32 fma, 4 vector loads, 4 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_exp_1: loop {{.*}} 32 fma, {{.*}} 0 calls, 0 scalar float
func.func @exp(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.exp %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// V4: kernel_erf_2: loop {{.*}} 72 fma, 4 vector loads, 4 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_erf_2: loop {{.*}} 72 fma, {{.*}} 0 calls, 0 scalar float
func.func @erf(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.erf %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// V4: kernel_sigmoid_mul: loop {{.*}} 32 fma, 4 vector loads, 4 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_sigmoid_mul: loop {{.*}} 32 fma, {{.*}} 0 calls, 0 scalar float
func.func @sigmoid_times_x(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.sigmoid %x : tensor<4096xf32>
  %1 = nn.mul %0, %x : tensor<4096xf32>, tensor<4096xf32>
  return %1 : tensor<4096xf32>
}

// V4: kernel_log_3: loop {{.*}} 44 fma, 4 vector loads, 4 vector stores, 0 stack, 0 calls, 0 scalar float
// V3: kernel_log_3: loop {{.*}} 44 fma, {{.*}} 0 calls, 0 scalar float
func.func @log(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.log %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
