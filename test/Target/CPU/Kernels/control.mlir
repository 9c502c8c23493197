// RUN: %sprig-opt %s --canonicalize --sprig-decompose --sprig-unroll-scans --sprig-scans --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v4 --split-input-file | FileCheck %s

// One kernel, one tile: a branch each, whose parts write the kernel's result.
// CHECK-LABEL: func.func @branch(
// CHECK: kernel.dispatch "cond" (
// CHECK: nn.cond
// CHECK: kernel.dispatch "matmul
// CHECK: else
// CHECK: kernel.dispatch "exp"
// CHECK: func.func @kernel_0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<{{.*}}xi8>, %{{.*}}: !llvm.ptr, %[[P:.*]]: memref<i8>,
// CHECK-SAME: sprig.tiles = 1
// CHECK: %[[FLAG:.*]] = memref.load
// CHECK: %[[CODE:.*]] = scf.if
// CHECK: math.fma
// CHECK: } else {
// CHECK-NOT: math.fma
// CHECK: math.exp
// CHECK: return %[[CODE]] : i32
// CHECK-NOT: func.func @kernel_1
func.func @branch(%p: tensor<i1>, %x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %r = nn.cond %p with (%a = %x : tensor<4x8xf32>, %b = %w : tensor<8x8xf32>) -> tensor<4x8xf32> {
    %0 = nn.matmul %a, %b : tensor<4x8xf32>, tensor<8x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  } else {
    %0 = nn.exp %a : tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----

// A loop whose value is its kernel's result: an elementwise step overwrites it, nothing is put aside or copied back.
// CHECK-LABEL: func.func @loop(
// CHECK: func.func @kernel_0(
// CHECK: %[[END:.*]]:2 = scf.while (%{{.*}} = %{{.*}}, %[[N:.*]] = %{{.*}}) : (i32, index) -> (i32, index) {
// CHECK: arith.cmpi ult, %[[N]]
// CHECK: scf.condition
// CHECK: } do {
// CHECK: vector.load
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK: return %[[END]]#0 : i32
func.func @loop(%x: tensor<32xf32>, %limit: tensor<f32>) -> tensor<32xf32> {
  %r = nn.while max_steps = 100 carry (%s = %x : tensor<32xf32>) with (%l = %limit : tensor<f32>) {
    %0 = nn.reduce max %s axes = [0] : tensor<32xf32>
    %1 = nn.compare lt %0, %l : tensor<f32>, tensor<f32>
    nn.yield %1 : tensor<i1>
  } do {
    %0 = nn.mul %s, %s : tensor<32xf32>, tensor<32xf32>
    nn.yield %0 : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}

// -----

// Constants that are no splats have memory outside of kernels.
// CHECK-LABEL: func.func @constants(
// CHECK: %[[C:.*]] = nn.constant dense<[1.0{{.*}}, 2.0{{.*}}]>
// CHECK: kernel.dispatch "cond" ({{.*}}= %[[C]] : tensor<2xf32>)
func.func @constants(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = nn.cond %p with (%a = %x : tensor<2xf32>) -> tensor<2xf32> {
    %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = nn.mul %a, %c : tensor<2xf32>, tensor<2xf32>
    nn.yield %0 : tensor<2xf32>
  } else {
    nn.yield %a : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
