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
// CHECK-SAME: memref<64x1024xf32>, %{{.*}}: memref<64x1024xf32>, %{{.*}}: memref<64x1024xf32>, %{{.*}}: !llvm.ptr, %{{.*}}: memref<0xi8>, %[[FIRST:.*]]: i32) kernel
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

// One block computes one of two branches; every thread takes the same one.
func.func @cond(%p: tensor<i1>, %x: tensor<4x1000xf32>) -> tensor<4xf32> {
  %r = kernel.dispatch "cond" (%a = %p : tensor<i1>, %b = %x : tensor<4x1000xf32>) -> tensor<4xf32> {
    %0 = nn.cond %a with (%c = %b : tensor<4x1000xf32>) -> tensor<4xf32> {
      %1 = kernel.dispatch "exp" (%d = %c : tensor<4x1000xf32>) -> tensor<4x1000xf32> {
        %2 = nn.exp %d : tensor<4x1000xf32>
        kernel.yield %2 : tensor<4x1000xf32>
      }
      %3 = kernel.dispatch "sum" (%d = %1 : tensor<4x1000xf32>) -> tensor<4xf32> {
        %2 = nn.reduce sum %d axes = [1] : tensor<4x1000xf32>
        kernel.yield %2 : tensor<4xf32>
      }
      nn.yield %3 : tensor<4xf32>
    } else {
      %1 = kernel.dispatch "max" (%d = %c : tensor<4x1000xf32>) -> tensor<4xf32> {
        %2 = nn.reduce max %d axes = [1] : tensor<4x1000xf32>
        kernel.yield %2 : tensor<4xf32>
      }
      nn.yield %1 : tensor<4xf32>
    }
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: memref<16000xi8>
// Both branches have the same shared memory.
// CHECK-SAME: workgroup(%[[SHARED:.*]] : memref<32xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, sprig.scratch = 16000 : i64, sprig.tiles = 1 : i64
// CHECK: memref.reinterpret_cast %arg0
// CHECK: memref.load
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16
// CHECK: math.exp
// CHECK: gpu.barrier
// CHECK: memref.view %[[SHARED]]
// CHECK: gpu.barrier
// CHECK: } else {
// CHECK: memref.view %[[SHARED]]
// CHECK-NOT: gpu.block_id

// -----

// A loop that ends by data: what is carried lies in the result, the condition in scratch memory.
func.func @while(%x: tensor<9xf32>) -> tensor<9xf32> {
  %r = kernel.dispatch "while" (%a = %x : tensor<9xf32>) -> tensor<9xf32> {
    %0 = nn.while max_steps = 7 carry (%s = %a : tensor<9xf32>) {
      %0 = kernel.dispatch "max" (%d = %s : tensor<9xf32>) -> tensor<f32> {
        %2 = nn.reduce max %d axes = [0] : tensor<9xf32>
        kernel.yield %2 : tensor<f32>
      }
      %1 = kernel.dispatch "compare" (%d = %0 : tensor<f32>) -> tensor<i1> {
        %2 = nn.constant dense<1.0> : tensor<f32>
        %3 = nn.compare gt %d, %2 : tensor<f32>, tensor<f32>
        kernel.yield %3 : tensor<i1>
      }
      nn.yield %1 : tensor<i1>
    } do {
      %1 = kernel.dispatch "sin" (%d = %s : tensor<9xf32>) -> tensor<9xf32> {
        %2 = nn.sin %d : tensor<9xf32>
        kernel.yield %2 : tensor<9xf32>
      }
      nn.yield %1 : tensor<9xf32>
    }
    kernel.yield %0 : tensor<9xf32>
  }
  return %r : tensor<9xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: sprig.scratch = 128 : i64, sprig.tiles = 1 : i64
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: arith.cmpi ult, %{{.*}}, %c7
// CHECK: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: arith.cmpf ogt
// CHECK: gpu.barrier
// CHECK: memref.load
// CHECK: gpu.barrier
// CHECK: scf.condition
// CHECK: math.sin
// CHECK: memref.store %{{.*}}, %arg1
// CHECK: gpu.barrier

// -----

// What no emitter takes is refused by name.
func.func @scan(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has no kernel for CUDA yet}}
  %r = kernel.dispatch "scan" (%a = %x : tensor<3x4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{it holds 'nn.scan', which gives 'tensor<4xf32>'}}
    %0 = nn.scan steps = 3 over (%t = %a : tensor<3x4xf32>) carry (%s = %b : tensor<4xf32>) -> tensor<4xf32> {
      %1 = nn.add %t, %s : tensor<4xf32>, tensor<4xf32>
      %2 = nn.cumulative sum %1 axis = 0 : tensor<4xf32>
      nn.yield %2 : tensor<4xf32>
    }
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
