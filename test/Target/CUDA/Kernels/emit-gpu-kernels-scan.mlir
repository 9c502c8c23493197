// RUN: %sprig-opt %s --split-input-file --sprig-emit-gpu-kernels | FileCheck %s

// A block for each row, which goes through time; a thread for each column, whose matrix it reads once and keeps. Two places of
// the state in shared memory, one of the product and of the input, which comes meanwhile; two barriers a step.
func.func @step(%x: tensor<9x5x64xf32>, %h: tensor<5x64xf32>, %w: tensor<64x64xf32>) -> (tensor<5x64xf32>, tensor<9x5x64xf32>) {
  %0:2 = kernel.dispatch "scan" (%a = %x : tensor<9x5x64xf32>, %b = %h : tensor<5x64xf32>, %c = %w : tensor<64x64xf32>) -> (tensor<5x64xf32>, tensor<9x5x64xf32>) {
    %1:2 = nn.scan steps = 9 reverse over (%t = %a : tensor<9x5x64xf32>) carry (%s = %b : tensor<5x64xf32>) with (%v = %c : tensor<64x64xf32>) -> (tensor<5x64xf32>, tensor<9x5x64xf32>) {
      %2 = nn.matmul %s, %v : tensor<5x64xf32>, tensor<64x64xf32>
      %3 = nn.add %2, %t : tensor<5x64xf32>, tensor<5x64xf32>
      nn.yield %3, %3 : tensor<5x64xf32>, tensor<5x64xf32>
    }
    kernel.yield %1#0, %1#1 : tensor<5x64xf32>, tensor<9x5x64xf32>
  }
  return %0#0, %0#1 : tensor<5x64xf32>, tensor<9x5x64xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: workgroup(%[[STATE:.*]] : memref<128xf32, #gpu.address_space<workgroup>>, %[[PRODUCT:.*]] : memref<64xf32, #gpu.address_space<workgroup>>, %[[INPUT:.*]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: sprig.scratch = 0 : i64, sprig.tiles = 5 : i64
// CHECK: %[[MATRIX:.*]] = memref.reinterpret_cast %{{.*}} : memref<64x64xf32> to memref<4096xf32>
// CHECK-COUNT-64: memref.load %[[MATRIX]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[INPUT]]{{.*}}, 4 :
// CHECK: nvgpu.device_async_create_group
// CHECK-NOT: scf.for
// CHECK-COUNT-16: vector.load %[[STATE]]{{.*}}alignment = 16
// CHECK-NOT: vector.load
// CHECK: memref.store %{{.*}}, %[[PRODUCT]]
// CHECK: nvgpu.device_async_wait
// CHECK-NEXT: gpu.barrier
// CHECK: memref.load %[[PRODUCT]]
// CHECK: memref.load %[[INPUT]]
// CHECK: memref.store %{{.*}}, %[[STATE]]
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// -----

// Four rows a block, since the matrix is read from afar, as 256 of its elements are more than a thread keeps; the last block has
// three rows.
func.func @rows(%h: tensor<259x256xf32>, %w: tensor<256x256xf32>) -> tensor<259x256xf32> {
  %0 = kernel.dispatch "scan" (%b = %h : tensor<259x256xf32>, %c = %w : tensor<256x256xf32>) -> tensor<259x256xf32> {
    %1 = nn.scan steps = 2 carry (%s = %b : tensor<259x256xf32>) with (%v = %c : tensor<256x256xf32>) -> tensor<259x256xf32> {
      %2 = nn.matmul %s, %v : tensor<259x256xf32>, tensor<256x256xf32>
      nn.yield %2 : tensor<259x256xf32>
    }
    kernel.yield %1 : tensor<259x256xf32>
  }
  return %0 : tensor<259x256xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: sprig.tiles = 65 : i64
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load
