// RUN: sprig-opt %s --sprig-emit-kernels --split-input-file --verify-diagnostics
// RUN: not sprig-opt %s --split-input-file --sprig-emit-kernels=cpu=z80 2>&1 | FileCheck %s

// CHECK: unknown instruction set 'z80'; known: x86-64-v2, x86-64-v3, x86-64-v3-vnni, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, x86-64-v4-amx

// Two contractions in one dispatch.
func.func @two(%x: tensor<2x4xf32>, %p: tensor<1x4x32xf32>) -> tensor<2x32xf32> {
  // expected-error@+1 {{has no kernel for the CPU}}
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<2x4xf32>, %p0 = %p : tensor<1x4x32xf32>) -> tensor<2x32xf32> {
    // expected-note@+1 {{it holds 'kernel.matmul_packed'}}
    %0 = kernel.matmul_packed %x0, %p0 {columns = 32 : i64} : tensor<2x4xf32>, tensor<1x4x32xf32>
    // expected-note@+1 {{it holds 'kernel.matmul_packed'}}
    %1 = kernel.matmul_packed %x0, %p0 {columns = 32 : i64} : tensor<2x4xf32>, tensor<1x4x32xf32>
    // expected-note@+1 {{it holds 'nn.add'}}
    %2 = nn.add %0, %1 : tensor<2x32xf32>, tensor<2x32xf32>
    kernel.yield %2 : tensor<2x32xf32>
  }
  return %r : tensor<2x32xf32>
}
