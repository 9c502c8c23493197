// Which gradients of filters become sums of parts: those of one tile, with work for several, whose sum is cut anyway.
// RUN: %sprig-opt %s --sprig-split-filter-gradients --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --sprig-split-filter-gradients="most-tiles=2 most-bytes=1000000 least-flops=1" --split-input-file | FileCheck %s --check-prefix=ALL
// ALL-COUNT-4: kernel.conv_filter_grad_parts
// ALL-NOT: kernel.conv_filter_grad_parts

// LeNet's first layer: 98 pieces, added up in ascending order.
// CHECK-LABEL: @one_channel(
// CHECK: %[[PARTS:.*]] = kernel.conv_filter_grad_parts %arg0, %arg1 {dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 5, 5>}
// CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[PARTS]] axes = [0] : tensor<98x6x1x5x5xf32>
// CHECK-NEXT: return %[[SUM]]
func.func @one_channel(%x: tensor<64x32x32x1xf32>, %g: tensor<64x28x28x6xf32>) -> tensor<6x1x5x5xf32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<64x32x32x1xf32>, tensor<64x28x28x6xf32>
  return %r : tensor<6x1x5x5xf32>
}

// -----

// Two tiles of eight channels are two threads' already.
// CHECK-LABEL: @two_tiles(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @two_tiles(%x: tensor<16x32x32x16xf32>, %g: tensor<16x32x32x16xf32>) -> tensor<16x16x3x3xf32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x16xf32>, tensor<16x32x32x16xf32>
  return %r : tensor<16x16x3x3xf32>
}

// -----

// Too little work to share out.
// CHECK-LABEL: @little_work(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @little_work(%x: tensor<2x32x32x1xf32>, %g: tensor<2x28x28x6xf32>) -> tensor<6x1x5x5xf32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x32x32x1xf32>, tensor<2x28x28x6xf32>
  return %r : tensor<6x1x5x5xf32>
}

// -----

// 512 parts of 1728 bytes.
// CHECK-LABEL: @many_bytes(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @many_bytes(%x: tensor<256x32x32x3xf32>, %g: tensor<256x32x32x16xf32>) -> tensor<16x3x3x3xf32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<256x32x32x3xf32>, tensor<256x32x32x16xf32>
  return %r : tensor<16x3x3x3xf32>
}

// -----

// 1024 positions are one chain.
// CHECK-LABEL: @one_chain(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @one_chain(%x: tensor<1x32x32x8xf32>, %g: tensor<1x32x32x32xf32>) -> tensor<32x8x9x9xf32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 9, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 4, 4, 4, 4>} : tensor<1x32x32x8xf32>, tensor<1x32x32x32xf32>
  return %r : tensor<32x8x9x9xf32>
}

// -----

// Parts would be rounded.
// CHECK-LABEL: @halves(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @halves(%x: tensor<64x32x32x1xbf16>, %g: tensor<64x28x28x6xbf16>) -> tensor<6x1x5x5xbf16> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<64x32x32x1xbf16>, tensor<64x28x28x6xbf16>
  return %r : tensor<6x1x5x5xbf16>
}

// -----

// Sums of integers are not cut.
// CHECK-LABEL: @integers(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @integers(%x: tensor<64x32x32x1xi32>, %g: tensor<64x28x28x6xi32>) -> tensor<6x1x5x5xi32> {
  %r = nn.conv_filter_grad %x, %g {channels_last, window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<64x32x32x1xi32>, tensor<64x28x28x6xi32>
  return %r : tensor<6x1x5x5xi32>
}

// -----

// The layout pass comes first.
// CHECK-LABEL: @channels_second(
// CHECK: nn.conv_filter_grad
// CHECK-NOT: kernel.conv_filter_grad_parts
func.func @channels_second(%x: tensor<64x1x32x32xf32>, %g: tensor<64x6x28x28xf32>) -> tensor<6x1x5x5xf32> {
  %r = nn.conv_filter_grad %x, %g {window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<64x1x32x32xf32>, tensor<64x6x28x28xf32>
  return %r : tensor<6x1x5x5xf32>
}
