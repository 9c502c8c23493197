// RUN: %sprig-opt %s --split-input-file --sprig-emit-gpu-kernels | FileCheck %s

// A large product: tiles of 128 by 128, four slices of eight steps a side, of which three are on their way while one is
// multiplied. A thread computes eight rows times eight columns, from four steps of a row or column at once; the second
// four are read before the first are multiplied.
func.func @large(%x: tensor<2048x512xf32>, %w: tensor<1024x512xf32>, %v: tensor<1024xf32>) -> tensor<2048x1024xf32> {
  %r = kernel.dispatch "matmul_add" (%a = %x : tensor<2048x512xf32>, %b = %w : tensor<1024x512xf32>, %c = %v : tensor<1024xf32>) -> tensor<2048x1024xf32> {
    %0 = nn.matmul %a, %b {transpose_rhs} : tensor<2048x512xf32>, tensor<1024x512xf32>
    %1 = nn.add %0, %c : tensor<2048x1024xf32>, tensor<1024xf32>
    kernel.yield %1 : tensor<2048x1024xf32>
  }
  return %r : tensor<2048x1024xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: workgroup(%[[LEFT:.*]] : memref<4096xf32, #gpu.address_space<workgroup>>, %[[RIGHT:.*]] : memref<4096xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: sprig.tiles = 128 : i64
// CHECK: nvgpu.device_async_copy {{.*}}, %[[LEFT]]{{.*}}, 4 {bypassL1}
// CHECK: nvgpu.device_async_copy {{.*}}, %[[RIGHT]]{{.*}}, 4 {bypassL1}
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-8: vector.load %[[LEFT]]{{.*}}alignment = 16
// CHECK-COUNT-8: vector.load %[[RIGHT]]{{.*}}alignment = 16
// CHECK-COUNT-8: vector.load %[[LEFT]]{{.*}}alignment = 16
// CHECK-COUNT-8: vector.load %[[RIGHT]]{{.*}}alignment = 16
// CHECK-COUNT-512: math.fma
// CHECK: scf.yield
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// CHECK-COUNT-512: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-64: llvm.inline_asm has_side_effects ""
// CHECK-NOT: scf.if
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: vector.store {{.*}}alignment = 16

// -----

// More than 1024 products are chains of 512, added in order. Of 500 columns some tiles have fewer: what is not there is
// not stored.
func.func @long(%x: tensor<40x1100xf32>, %w: tensor<1100x500xf32>) -> tensor<40x500xf32> {
  %r = kernel.dispatch "matmul" (%a = %x : tensor<40x1100xf32>, %b = %w : tensor<1100x500xf32>) -> tensor<40x500xf32> {
    %0 = nn.matmul %a, %b : tensor<40x1100xf32>, tensor<1100x500xf32>
    kernel.yield %0 : tensor<40x500xf32>
  }
  return %r : tensor<40x500xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: sprig.tiles = 96 : i64
// CHECK: %[[PART:.*]] = arith.constant 512 : index
// CHECK: scf.for {{.*}} step %[[PART]]
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: vector.store {{.*}}vector<2xf32>

// -----

// Few rows: the other side goes by once, in slices that the whole block copies; eight threads compute.
func.func @row(%x: tensor<1x784xf32>, %w: tensor<256x784xf32>) -> tensor<1x256xf32> {
  %r = kernel.dispatch "matmul" (%a = %x : tensor<1x784xf32>, %b = %w : tensor<256x784xf32>) -> tensor<1x256xf32> {
    %0 = nn.matmul %a, %b {transpose_rhs} : tensor<1x784xf32>, tensor<256x784xf32>
    kernel.yield %0 : tensor<1x256xf32>
  }
  return %r : tensor<1x256xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: memref<256xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<2048xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: sprig.tiles = 32 : i64
// CHECK: scf.for
// CHECK: %[[WORKS:.*]] = arith.cmpi ult, %thread_id_x, %c8{{(_[0-9]+)?}} : index
// CHECK: scf.if %[[WORKS]]
// CHECK-COUNT-64: math.fma
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma

// -----

// Odd sizes and transposed sides are copied one by one, without padding in memory; zeros come in place of steps that are
// not there, and nobody multiplies them.
func.func @odd(%x: tensor<3x77x50xf32>, %w: tensor<3x77x51xf32>) -> tensor<3x50x51xf32> {
  %r = kernel.dispatch "matmul" (%a = %x : tensor<3x77x50xf32>, %b = %w : tensor<3x77x51xf32>) -> tensor<3x50x51xf32> {
    %0 = nn.matmul %a, %b {transpose_lhs} : tensor<3x77x50xf32>, tensor<3x77x51xf32>
    kernel.yield %0 : tensor<3x50x51xf32>
  }
  return %r : tensor<3x50x51xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: sprig.tiles = 48 : i64
// CHECK-NOT: vector.load {{.*}}memref<11550xf32>
// CHECK: nvgpu.device_async_copy {{.*}}, 1, %
// CHECK-COUNT-128: math.fma
// CHECK: gpu.barrier
// CHECK-COUNT-52: math.fma
// CHECK-NOT: math.fma

// -----

// Small products have a thread for each element.
func.func @tiny(%x: tensor<4x16xf32>, %w: tensor<16x9xf32>) -> tensor<4x9xf32> {
  %r = kernel.dispatch "matmul" (%a = %x : tensor<4x16xf32>, %b = %w : tensor<16x9xf32>) -> tensor<4x9xf32> {
    %0 = nn.matmul %a, %b : tensor<4x16xf32>, tensor<16x9xf32>
    kernel.yield %0 : tensor<4x9xf32>
  }
  return %r : tensor<4x9xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-NOT: workgroup
// CHECK: math.fma
