// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-emit-gpu-kernels | FileCheck %s

// Many elements: 128 bits of neighbours for each thread, however many dimensions there are.
func.func @wide(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %r = kernel.dispatch "add" (%a = %x : tensor<64x1024xf32>, %b = %y : tensor<64x1024xf32>) -> tensor<64x1024xf32> {
    %0 = nn.add %a, %b : tensor<64x1024xf32>, tensor<64x1024xf32>
    kernel.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: memref<64x1024xf32>, %{{.*}}: memref<64x1024xf32>, %{{.*}}: memref<64x1024xf32>, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[FIRST:.*]]: i32) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: sprig.scratch = 0 : i64, sprig.tiles = 64 : i64
// CHECK-DAG: gpu.thread_id x
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG: %[[BEGIN:.*]] = arith.index_castui %[[FIRST]]
// CHECK: arith.addi %[[BLOCK]], %[[BEGIN]]
// CHECK-NOT: scf.if
// CHECK-COUNT-2: vector.load {{.*}}alignment = 16
// CHECK: vector.store {{.*}}alignment = 16
// CHECK: gpu.return

// -----

// An odd number: one element a thread, if it is there.
func.func @odd(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = kernel.dispatch "relu" (%a = %x : tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = nn.relu %a : tensor<3x5xf32>
    kernel.yield %0 : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: sprig.tiles = 1 : i64
// CHECK: scf.if
// CHECK: memref.load
// CHECK: memref.store

// -----

// A product with what follows it: a chain of multiply-adds, then the bias.
func.func @product(%x: tensor<4x7xf32>, %w: tensor<7x9xf32>, %v: tensor<9xf32>) -> tensor<4x9xf32> {
  %r = kernel.dispatch "matmul_add" (%a = %x : tensor<4x7xf32>, %b = %w : tensor<7x9xf32>, %c = %v : tensor<9xf32>) -> tensor<4x9xf32> {
    %0 = nn.matmul %a, %b : tensor<4x7xf32>, tensor<7x9xf32>
    %1 = nn.add %0, %c : tensor<4x9xf32>, tensor<9xf32>
    kernel.yield %1 : tensor<4x9xf32>
  }
  return %r : tensor<4x9xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK: scf.for
// CHECK: math.fma
// CHECK: arith.addf
// CHECK: memref.store

// -----

// Softmax of 100 columns: a warp a row, four elements a thread, read once; two trees of five shuffles.
func.func @softmax(%x: tensor<16x100xf32>) -> tensor<16x100xf32> {
  %r = kernel.dispatch "softmax" (%a = %x : tensor<16x100xf32>) -> tensor<16x100xf32> {
    %0 = nn.reduce max %a axes = [1] {keep_dims} : tensor<16x100xf32>
    %1 = nn.sub %a, %0 : tensor<16x100xf32>, tensor<16x1xf32>
    %2 = nn.exp %1 : tensor<16x100xf32>
    %3 = nn.reduce sum %2 axes = [1] {keep_dims} : tensor<16x100xf32>
    %4 = nn.div %2, %3 : tensor<16x100xf32>, tensor<16x1xf32>
    kernel.yield %4 : tensor<16x100xf32>
  }
  return %r : tensor<16x100xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK-COUNT-4: memref.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-4: math.exp
// CHECK-NOT: memref.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-4: memref.store

// -----

// Longer rows: a block each, whose warps meet in shared memory.
func.func @long(%x: tensor<3x1000xf32>) -> tensor<3xf32> {
  %r = kernel.dispatch "reduce" (%a = %x : tensor<3x1000xf32>) -> tensor<3xf32> {
    %0 = nn.reduce sum %a axes = [1] : tensor<3x1000xf32>
    kernel.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: workgroup(%{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: sprig.tiles = 3 : i64
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle

// -----

// The first thread that finds something wrong says what.
func.func @gather(%x: tensor<6x4xf32>, %i: tensor<5xi64>) -> tensor<5x4xf32> {
  %r = kernel.dispatch "gather" (%a = %x : tensor<6x4xf32>, %b = %i : tensor<5xi64>) -> tensor<5x4xf32> {
    %0 = nn.gather %a, %b axis = 0 : tensor<6x4xf32>, tensor<5xi64>
    kernel.yield %0 : tensor<5x4xf32>
  }
  return %r : tensor<5x4xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK: %[[PAIR:.*]] = llvm.cmpxchg
// CHECK: %[[MINE:.*]] = llvm.extractvalue %[[PAIR]][1]
// CHECK: scf.if %[[MINE]]
// CHECK-COUNT-3: llvm.store

// -----

// What no emitter takes is refused by name.
func.func @cond(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has no kernel for CUDA yet}}
  %r = kernel.dispatch "cond" (%a = %p : tensor<i1>, %b = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{it holds 'nn.cond', which gives 'tensor<4xf32>'}}
    %0 = nn.cond %a with (%c = %b : tensor<4xf32>) -> tensor<4xf32> {
      nn.yield %c : tensor<4xf32>
    } else {
      %1 = kernel.dispatch "exp" (%d = %c : tensor<4xf32>) -> tensor<4xf32> {
        %2 = nn.exp %d : tensor<4xf32>
        kernel.yield %2 : tensor<4xf32>
      }
      nn.yield %1 : tensor<4xf32>
    }
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
