// RUN: %sprig-opt %s --split-input-file --sprig-emit-gpu-kernels | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-emit-gpu-kernels | %sprig-opt --split-input-file --pass-pipeline='builtin.module(gpu.module(sprig-lower-gpu-module))' | FileCheck %s --check-prefix=LOWERED

// A large product where factors may be rounded: tiles of 128 by 128 in four stages of 16 steps, more shared memory than
// there is without asking. Three slices are on their way before the first is multiplied, by eight warps of 64 rows and
// 32 columns. Of sides whose steps lie side by side an instruction reads four matrices.
func.func @large(%x: tensor<2048x512xf32>, %w: tensor<1024x512xf32>, %v: tensor<1024xf32>) -> tensor<2048x1024xf32> {
  %r = kernel.dispatch "matmul_add" (%a = %x : tensor<2048x512xf32>, %b = %w : tensor<1024x512xf32>, %c = %v : tensor<1024xf32>) -> tensor<2048x1024xf32> attributes {tf32} {
    %0 = nn.matmul %a, %b {transpose_rhs} : tensor<2048x512xf32>, tensor<1024x512xf32>
    %1 = nn.add %0, %c : tensor<2048x1024xf32>, tensor<1024xf32>
    kernel.yield %1 : tensor<2048x1024xf32>
  }
  return %r : tensor<2048x1024xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: sprig.tiles = 128 : i64
// CHECK: memref.view {{.*}} to memref<16384xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-4: nvgpu.device_async_copy {{.*}}, 4 {bypassL1}
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-4: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-4: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-4: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-2: nvgpu.ldmatrix {{.*}}numTiles = 4
// CHECK: nvgpu.ldmatrix {{.*}}numTiles = 4
// CHECK: nvvm.convert.float.to.tf32 {{.*}}rna
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: vector.store {{.*}}alignment = 8

// LOWERED: llvm.mlir.global external @kernel_0_dynamic() {{.*}}addr_space = 3 : i32{{.*}} : !llvm.array<0 x i8>
// LOWERED: nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// LOWERED: nvvm.ldmatrix

// -----

// Odd sizes are copied element by element, zeros in place of what is not there. Parts of 512 products are added up.
func.func @odd(%x: tensor<3x1101x50xf32>, %w: tensor<1101x51xf32>) -> tensor<3x50x51xf32> {
  %r = kernel.dispatch "matmul" (%a = %x : tensor<3x1101x50xf32>, %b = %w : tensor<1101x51xf32>) -> tensor<3x50x51xf32> attributes {tf32} {
    %0 = nn.matmul %a, %b {transpose_lhs} : tensor<3x1101x50xf32>, tensor<1101x51xf32>
    kernel.yield %0 : tensor<3x50x51xf32>
  }
  return %r : tensor<3x50x51xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: sprig.tiles = 12 : i64
// CHECK: arith.select
// CHECK: %[[COUNT:.*]] = arith.select {{.*}} : index
// CHECK: nvgpu.device_async_copy {{.*}}, 1, %[[COUNT]]
// CHECK: %[[PART:.*]] = arith.constant 16 : index
// CHECK: scf.for {{.*}} step %[[PART]]
// CHECK: scf.for
// CHECK-COUNT-8: memref.load
// CHECK: nvvm.mma.sync
// CHECK: arith.addf
// CHECK: memref.store

// -----

// A convolution: a slice lies in one tap, whose place is found once; the filter's rows lie side by side and are copied 128
// bits wide, windows element by element, with zeros in place of the padding.
func.func @conv(%x: tensor<4x32x30x30xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<4x64x30x30xf32> {
  %r = kernel.dispatch "conv_relu" (%a = %x : tensor<4x32x30x30xf32>, %b = %w : tensor<3x3x32x64xf32>) -> tensor<4x64x30x30xf32> attributes {tf32} {
    %f = nn.transpose %b [3, 2, 0, 1] : tensor<3x3x32x64xf32>
    %0 = nn.conv %a, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x32x30x30xf32>, tensor<64x32x3x3xf32>
    %1 = nn.relu %0 : tensor<4x64x30x30xf32>
    kernel.yield %1 : tensor<4x64x30x30xf32>
  }
  return %r : tensor<4x64x30x30xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: sprig.tiles = 226 : i64
// CHECK: nvgpu.device_async_copy {{.*}}, 4 {bypassL1}
// CHECK: arith.cmpi ult
// CHECK: %[[FROM:.*]] = arith.select {{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.select {{.*}} : index
// CHECK-NEXT: nvgpu.device_async_copy %{{.*}}[%[[FROM]]]{{.*}}, 1, %[[COUNT]]
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.mma.sync
// CHECK: vector.store {{.*}} : memref<230400xf32>, vector<2xf32>

// -----

// Of a transposed convolution a block takes the taps that reach its phase.
func.func @phases(%x: tensor<2x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<2x32x16x16xf32> {
  %r = kernel.dispatch "conv_transpose" (%a = %x : tensor<2x32x8x8xf32>, %b = %w : tensor<32x32x3x3xf32>) -> tensor<2x32x16x16xf32> attributes {tf32} {
    %0 = nn.conv_transpose %a, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : tensor<2x32x8x8xf32>, tensor<32x32x3x3xf32>
    kernel.yield %0 : tensor<2x32x16x16xf32>
  }
  return %r : tensor<2x32x16x16xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME: sprig.tiles = 16 : i64
// CHECK: %[[TAPS:.*]] = arith.muli {{.*}} : i32
// CHECK: %[[SLICES:.*]] = arith.divui
// CHECK: scf.if
// CHECK: nvgpu.device_async_copy
// CHECK: scf.for {{.*}} to %[[SLICES]]
// CHECK: nvvm.mma.sync

// -----

// Of a long gradient of a filter in parts a block takes the slices of its part alone; steps lie side by side on both sides.
func.func @parts(%x: tensor<4x16x20x20xf32>, %g: tensor<4x32x20x20xf32>) -> tensor<4x32x16x3x3xf32> {
  %r = kernel.dispatch "conv_filter_grad" (%a = %x : tensor<4x16x20x20xf32>, %b = %g : tensor<4x32x20x20xf32>) -> tensor<4x32x16x3x3xf32> attributes {tf32} {
    %0 = kernel.conv_filter_grad_parts %a, %b {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_first} : tensor<4x16x20x20xf32>, tensor<4x32x20x20xf32>
    kernel.yield %0 : tensor<4x32x16x3x3xf32>
  }
  return %r : tensor<4x32x16x3x3xf32>
}
// CHECK-LABEL: gpu.func @kernel_0
// CHECK: nvgpu.device_async_copy {{.*}}, 4{{.*}} {bypassL1}
// CHECK: nvgpu.device_async_copy {{.*}}, 1
// CHECK: scf.for %{{.*}} = %[[BEGIN:.*]] to %[[END:.*]] step
// CHECK: nvgpu.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK-NOT: arith.addf
