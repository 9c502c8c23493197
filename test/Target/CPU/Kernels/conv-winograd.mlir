// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s

// Two strips of two tiles: one block. A line of six inputs takes twelve multiply-adds, over height and over width; 36
// products of four rows and two vectors; then back, and the epilogue before the only store to the result.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-SAME: sprig.scratch = {{[0-9]+}} : i64, sprig.tiles = 1 : i64
// CHECK: scf.for
// CHECK-COUNT-6: vector.maskedload
// CHECK-COUNT-12: math.fma
// CHECK-COUNT-6: vector.store
// CHECK: scf.for
// CHECK-COUNT-6: vector.load
// CHECK-COUNT-12: math.fma
// CHECK-COUNT-6: vector.store
// CHECK: %[[FREQUENCIES:.*]] = arith.constant 36 : index
// CHECK: scf.for
// CHECK-COUNT-8: math.fma
// CHECK: scf.yield
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: arith.select
// CHECK: vector.store
// CHECK: return
func.func @fused(%x: tensor<1x8x8x32xf32>, %w: tensor<1x1152x32xf32>, %b: tensor<32xf32>) -> tensor<1x8x8x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x8x8x32xf32>, %w0 = %w : tensor<1x1152x32xf32>, %b0 = %b : tensor<32xf32>) -> tensor<1x8x8x32xf32> {
    %0 = kernel.conv_winograd %x0, %w0 {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 32 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x32xf32>, tensor<1x1152x32xf32>
    %1 = nn.add %0, %b0 : tensor<1x8x8x32xf32>, tensor<32xf32>
    %2 = nn.relu %1 : tensor<1x8x8x32xf32>
    kernel.yield %2 : tensor<1x8x8x32xf32>
  }
  return %r : tensor<1x8x8x32xf32>
}

// Two panels are two tiles; what the call has transformed for the first is there for the second.
// CHECK-LABEL: func.func @kernel_1(
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK: %[[BEGINS:.*]] = arith.cmpi eq, %{{.*}}, %arg0 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq,
// CHECK: %[[NEW:.*]] = arith.ori %[[BEGINS]], %[[FIRST]] : i1
// CHECK: scf.if %[[NEW]] {
// CHECK: vector.maskedload
func.func @panels(%x: tensor<1x8x8x32xf32>, %w: tensor<2x1152x32xf32>) -> tensor<1x8x8x64xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x8x8x32xf32>, %w0 = %w : tensor<2x1152x32xf32>) -> tensor<1x8x8x64xf32> {
    %0 = kernel.conv_winograd %x0, %w0 {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 64 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x32xf32>, tensor<2x1152x32xf32>
    kernel.yield %0 : tensor<1x8x8x64xf32>
  }
  return %r : tensor<1x8x8x64xf32>
}

// One panel and 16 positions are two blocks.
// CHECK-LABEL: func.func @kernel_2(
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK-NOT: arith.ori
// CHECK: vector.maskedload
func.func @halves(%x: tensor<1x16x16x32xf32>, %w: tensor<1x1152x32xf32>) -> tensor<1x16x16x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x16x16x32xf32>, %w0 = %w : tensor<1x1152x32xf32>) -> tensor<1x16x16x32xf32> {
    %0 = kernel.conv_winograd %x0, %w0 {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 32 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x16x16x32xf32>, tensor<1x1152x32xf32>
    kernel.yield %0 : tensor<1x16x16x32xf32>
  }
  return %r : tensor<1x16x16x32xf32>
}
