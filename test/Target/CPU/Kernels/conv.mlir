// RUN: sprig-opt %s --sprig-emit-kernels | FileCheck %s

// Three taps in a row of the window are one loop where no column of the tile touches the padding; height is bounded by
// max and min; no tap reads padding. 56 columns are four tiles of 14, the first and last of them edges.
// CHECK-LABEL: func.func @kernel_0
// CHECK-SAME: sprig.tiles = 112 : i64
// CHECK: arith.maxsi
// CHECK: arith.minsi
// The left edge: the first column has no left tap.
// CHECK: %{{.*}}:26 = scf.for
// CHECK: %{{.*}}:28 = scf.for
// CHECK-COUNT-28: math.fma
// CHECK: return
func.func @conv3x3(%x: tensor<1x56x56x64xf32>, %p: tensor<2x576x32xf32>, %b: tensor<64xf32>) -> tensor<1x56x56x64xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x56x56x64xf32>, %p0 = %p : tensor<2x576x32xf32>, %b0 = %b : tensor<64xf32>) -> tensor<1x56x56x64xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 3, 3>, channels = 64 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
        : tensor<1x56x56x64xf32>, tensor<2x576x32xf32>
    %1 = nn.add %0, %b0 : tensor<1x56x56x64xf32>, tensor<64xf32>
    kernel.yield %1 : tensor<1x56x56x64xf32>
  }
  return %r : tensor<1x56x56x64xf32>
}

// One channel: a row of the window is one loop of 11 steps; vectors run over output channels.
// CHECK-LABEL: func.func @kernel_1
// CHECK-DAG: arith.constant 11 : index
// CHECK: math.fma {{.*}} vector<16xf32>
// CHECK: return
func.func @first_layer(%x: tensor<1x224x224x1xf32>, %p: tensor<2x121x32xf32>) -> tensor<1x55x55x64xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x224x224x1xf32>, %p0 = %p : tensor<2x121x32xf32>) -> tensor<1x55x55x64xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 11, 11>, channels = 64 : i64, strides = array<i64: 4, 4>, dilations = array<i64: 1, 1>, padding = array<i64: 2, 2, 2, 2>}
        : tensor<1x224x224x1xf32>, tensor<2x121x32xf32>
    kernel.yield %0 : tensor<1x55x55x64xf32>
  }
  return %r : tensor<1x55x55x64xf32>
}

// A window of one tap is a matrix product of 288 rows.
// CHECK-LABEL: func.func @kernel_2
// CHECK-NOT: arith.maxsi
// CHECK: math.fma
// CHECK: return
func.func @pointwise(%x: tensor<2x12x12x128xf32>, %p: tensor<4x128x32xf32>) -> tensor<2x12x12x128xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<2x12x12x128xf32>, %p0 = %p : tensor<4x128x32xf32>) -> tensor<2x12x12x128xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 1, 1>, channels = 128 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
        : tensor<2x12x12x128xf32>, tensor<4x128x32xf32>
    kernel.yield %0 : tensor<2x12x12x128xf32>
  }
  return %r : tensor<2x12x12x128xf32>
}

// Small images of a large batch: the rows of a register tile are samples, so that no column is an edge.
// CHECK-LABEL: func.func @kernel_3
// CHECK: %{{.*}}:24 = scf.for {{.*}} iter_args
// CHECK: return
func.func @samples(%x: tensor<60x2x2x8xf32>, %p: tensor<1x72x32xf32>) -> tensor<60x2x2x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<60x2x2x8xf32>, %p0 = %p : tensor<1x72x32xf32>) -> tensor<60x2x2x32xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 3, 3>, channels = 32 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
        : tensor<60x2x2x8xf32>, tensor<1x72x32xf32>
    kernel.yield %0 : tensor<60x2x2x32xf32>
  }
  return %r : tensor<60x2x2x32xf32>
}

// Depthwise: vectors run over channels, with a masked rest.
// CHECK-LABEL: func.func @kernel_4
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: math.fma
// CHECK: vector.maskedload
// CHECK: math.fma
// CHECK: vector.maskedstore
// CHECK: return
func.func @depthwise(%x: tensor<1x9x9x20xf32>, %w: tensor<3x3x20xf32>) -> tensor<1x9x9x20xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x9x9x20xf32>, %w0 = %w : tensor<3x3x20xf32>) -> tensor<1x9x9x20xf32> {
    %0 = kernel.conv_depthwise %x0, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
        : tensor<1x9x9x20xf32>, tensor<3x3x20xf32>
    kernel.yield %0 : tensor<1x9x9x20xf32>
  }
  return %r : tensor<1x9x9x20xf32>
}

// Taps 20 columns apart: the edges are pieces of 20 columns that have the same taps inside the input, three on the left
// and three on the right, so that no register tile is narrower for them. Of two blocks of columns each has one side.
// CHECK-LABEL: func.func @kernel_5
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK: scf.for %[[PIECE:.*]] = %c0{{.*}} to %c60{{.*}} step %c20
// CHECK: scf.for %{{.*}} = %[[PIECE]] to %{{.*}} step %c10
// CHECK: %{{.*}}:20 = scf.for
// CHECK: scf.for %{{.*}} = %c60{{.*}} to %c76{{.*}} step %c8
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c90{{.*}} to %c150{{.*}} step %c20
// CHECK: return
func.func @dilated(%x: tensor<1x150x8xf32>, %p: tensor<1x56x32xf32>) -> tensor<1x150x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x150x8xf32>, %p0 = %p : tensor<1x56x32xf32>) -> tensor<1x150x32xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 7>, channels = 32 : i64, strides = array<i64: 1>, dilations = array<i64: 20>, padding = array<i64: 60, 60>}
        : tensor<1x150x8xf32>, tensor<1x56x32xf32>
    kernel.yield %0 : tensor<1x150x32xf32>
  }
  return %r : tensor<1x150x32xf32>
}

// A function behind a convolution stands once for a few rows of each register tile, in a loop over its rows.
// CHECK-LABEL: func.func @kernel_6
// CHECK: %[[SUMS:.*]]:14 = scf.for {{.*}} iter_args
// CHECK-COUNT-14: vector.store %[[SUMS]]#{{.*}} : memref<224xf32>, vector<16xf32>
// CHECK: scf.for {{.*}} step %c4
// CHECK-COUNT-4: vector.load {{.*}} : memref<224xf32>, vector<16xf32>
// CHECK: math.exp {{.*}} : vector<64xf32>
// CHECK: return
func.func @behind(%x: tensor<1x28x28x8xf32>, %p: tensor<1x72x32xf32>) -> tensor<1x28x28x16xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x28x28x8xf32>, %p0 = %p : tensor<1x72x32xf32>) -> tensor<1x28x28x16xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 3, 3>, channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}
        : tensor<1x28x28x8xf32>, tensor<1x72x32xf32>
    %1 = nn.sigmoid %0 : tensor<1x28x28x16xf32>
    kernel.yield %1 : tensor<1x28x28x16xf32>
  }
  return %r : tensor<1x28x28x16xf32>
}

// One row of one image: two blocks of columns, each with its own edge.
// CHECK-LABEL: func.func @kernel_7
// CHECK-SAME: sprig.tiles = 2 : i64
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: math.fma
// CHECK: } else {
// CHECK: math.fma
// CHECK: return
func.func @columns(%x: tensor<1x150x8xf32>, %p: tensor<1x24x32xf32>) -> tensor<1x150x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x150x8xf32>, %p0 = %p : tensor<1x24x32xf32>) -> tensor<1x150x32xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 3>, channels = 32 : i64, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>}
        : tensor<1x150x8xf32>, tensor<1x24x32xf32>
    kernel.yield %0 : tensor<1x150x32xf32>
  }
  return %r : tensor<1x150x32xf32>
}

// Fifteen blocks; only the outer ones have padding.
// CHECK-LABEL: func.func @kernel_8
// CHECK-SAME: sprig.tiles = 15 : i64
// CHECK-COUNT-2: scf.if
// CHECK: return
func.func @many_columns(%x: tensor<1x1200x32xf32>, %p: tensor<1x288x32xf32>) -> tensor<1x1200x32xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x1200x32xf32>, %p0 = %p : tensor<1x288x32xf32>) -> tensor<1x1200x32xf32> {
    %0 = kernel.conv_packed %x0, %p0 {window = array<i64: 9>, channels = 32 : i64, strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 4, 4>}
        : tensor<1x1200x32xf32>, tensor<1x288x32xf32>
    kernel.yield %0 : tensor<1x1200x32xf32>
  }
  return %r : tensor<1x1200x32xf32>
}

// One channel: vectors of columns. Rows with their padding are copied to scratch memory; taps that some columns alone
// have are left out of the others' sums.
// CHECK-LABEL: func.func @kernel_{{[0-9]+}}
// CHECK-SAME: sprig.scratch = 1344 : i64
// CHECK: vector.maskedstore
// CHECK: math.fma {{.*}} vector<16xf32>
// CHECK: arith.select {{.*}} vector<16xi1>, vector<16xf32>
// CHECK: return
func.func @one_channel(%x: tensor<1x6x90x1xf32>, %w: tensor<3x5x1xf32>) -> tensor<1x6x90x1xf32> {
  %r = kernel.dispatch "conv" (%x0 = %x : tensor<1x6x90x1xf32>, %w0 = %w : tensor<3x5x1xf32>) -> tensor<1x6x90x1xf32> {
    %0 = kernel.conv_depthwise %x0, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 2, 1, 2>} : tensor<1x6x90x1xf32>, tensor<3x5x1xf32>
    kernel.yield %0 : tensor<1x6x90x1xf32>
  }
  return %r : tensor<1x6x90x1xf32>
}
