// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s

// The register tile that a dispatch names: 3 rows of one vector, and 2 where 32 rows are no multiple of 3.
// CHECK-LABEL: func.func @kernel_0
// CHECK: %{{.*}}:3 = scf.for {{.*}} iter_args
// CHECK-COUNT-3: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK: %{{.*}}:2 = scf.for {{.*}} iter_args
// CHECK-COUNT-2: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
func.func @named(%x: tensor<64x784xf32>, %p: tensor<8x784x32xf32>) -> tensor<64x256xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<64x784xf32>, %p0 = %p : tensor<8x784x32xf32>) -> tensor<64x256xf32> attributes {tile = #kernel.register_tile<rows = 3, vectors = 1>} {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 256 : i64} : tensor<64x784xf32>, tensor<8x784x32xf32>
    kernel.yield %0 : tensor<64x256xf32>
  }
  return %r : tensor<64x256xf32>
}

// What no registers hold is no choice.
// CHECK-LABEL: func.func @kernel_1
// CHECK: %{{.*}}:22 = scf.for {{.*}} iter_args
func.func @nonsense(%x: tensor<64x784xf32>, %p: tensor<8x784x32xf32>) -> tensor<64x256xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<64x784xf32>, %p0 = %p : tensor<8x784x32xf32>) -> tensor<64x256xf32> attributes {tile = #kernel.register_tile<rows = 99, vectors = 3>} {
    %0 = kernel.matmul_packed %x0, %p0 {columns = 256 : i64} : tensor<64x784xf32>, tensor<8x784x32xf32>
    kernel.yield %0 : tensor<64x256xf32>
  }
  return %r : tensor<64x256xf32>
}
