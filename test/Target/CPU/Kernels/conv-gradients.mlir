// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s

// The filter's gradient: two tiles of eight channels with their nine taps; sums of 8 * 9 rows of 32 columns lie in
// scratch. Pieces of 512 positions, then taps, then the lines of a piece: one vector of the cotangent and one number of
// the input for each multiply-add, whose accumulators stay in registers. Then blocks turn round, the epilogue is computed and
// each element is stored once.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-SAME: memref<9216xi8>
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK: vector.store {{.*}} : memref<2304xf32>, vector<16xf32>
// CHECK: %[[PIECE:.*]] = arith.constant 512 : index
// CHECK: scf.for {{.*}} step %[[PIECE]] {
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.select
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-1: vector.load
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-8: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: vector.store
// CHECK: return
func.func @filter(%x: tensor<16x32x32x16xf32>, %g: tensor<16x32x32x16xf32>, %w: tensor<16x16x3x3xf32>, %lr: tensor<f32>) -> tensor<16x16x3x3xf32> {
  %r = kernel.dispatch "filter" (%x0 = %x : tensor<16x32x32x16xf32>, %g0 = %g : tensor<16x32x32x16xf32>, %w0 = %w : tensor<16x16x3x3xf32>, %lr0 = %lr : tensor<f32>) -> tensor<16x16x3x3xf32> {
    %0 = nn.conv_filter_grad %x0, %g0 {channels_last, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x16xf32>, tensor<16x32x32x16xf32>
    %1 = nn.mul %0, %lr0 : tensor<16x16x3x3xf32>, tensor<f32>
    %2 = nn.sub %w0, %1 : tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>
    kernel.yield %2 : tensor<16x16x3x3xf32>
  }
  return %r : tensor<16x16x3x3xf32>
}

// Windows that lie side by side: all four elements of each are written, none is read back.
// CHECK-LABEL: func.func @kernel_1(
// CHECK-SAME: sprig.tiles = 8 : i64
// CHECK: scf.for
// CHECK-NOT: arith.addf
// CHECK-COUNT-4: vector.load %[[OPERAND:.*]][
// CHECK-COUNT-4: vector.store
// CHECK-NOT: arith.addf
// CHECK: return
func.func @pool(%x: tensor<8x6x6x16xf32>, %g: tensor<8x3x3x16xf32>) -> tensor<8x6x6x16xf32> {
  %r = kernel.dispatch "pool" (%x0 = %x : tensor<8x6x6x16xf32>, %g0 = %g : tensor<8x3x3x16xf32>) -> tensor<8x6x6x16xf32> {
    %0 = nn.pool_grad max %x0, %g0 {channels_last, window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x6x6x16xf32>, tensor<8x3x3x16xf32>
    kernel.yield %0 : tensor<8x6x6x16xf32>
  }
  return %r : tensor<8x6x6x16xf32>
}

// Parts of the gradient of a filter of few outputs: a tile for each of four pieces, whose chains are the result as they are. Rows
// of all taps share register tiles.
// CHECK-LABEL: func.func @kernel_2(
// CHECK-SAME: memref<3456xi8>
// CHECK-SAME: memref<4x16x3x3x3xf32>
// CHECK-SAME: sprig.tiles = 4 : i64
// CHECK: %[[PIECE:.*]] = arith.constant 512 : index
// CHECK: arith.muli %{{.*}}, %[[PIECE]]
// CHECK: math.fma
// CHECK-NOT: arith.addf
// CHECK: vector.shuffle
// CHECK-NOT: arith.addf
// CHECK: return
func.func @parts(%x: tensor<8x18x18x3xf32>, %g: tensor<8x16x16x16xf32>) -> tensor<4x16x3x3x3xf32> {
  %r = kernel.dispatch "parts" (%x0 = %x : tensor<8x18x18x3xf32>, %g0 = %g : tensor<8x16x16x16xf32>) -> tensor<4x16x3x3x3xf32> {
    %0 = kernel.conv_filter_grad_parts %x0, %g0 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x18x18x3xf32>, tensor<8x16x16x16xf32>
    kernel.yield %0 : tensor<4x16x3x3x3xf32>
  }
  return %r : tensor<4x16x3x3x3xf32>
}
