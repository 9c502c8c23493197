// Which convolutions become kernel.conv_winograd, and why the others do not. Filters fold from iotas, to be no splats.
// RUN: %sprig-opt %s --sprig-fold-constants --sprig-winograd --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --sprig-fold-constants --sprig-winograd=min-gain=0 --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(sprig-phase-canonicalize{strict=true},sprig-phase-fuse{strict=true})' --split-input-file | FileCheck %s --check-prefix=STRICT
// STRICT-NOT: kernel.conv_winograd

// Many channels and positions: four outputs of three taps in each dimension, 36 frequencies of 64 channels.
// CHECK-LABEL: @wide(
// CHECK: nn.constant {{.*}} : tensor<2x2304x32xf32>
// CHECK-NOT: nn.constant
// CHECK: kernel.conv_winograd {{.*}} {channels = 64 : i64, padding = array<i64: 1, 1, 1, 1>, tile = array<i64: 4, 4>, window = array<i64: 3, 3>}
func.func @wide(%x: tensor<4x28x28x64xf32>) -> tensor<4x28x28x64xf32> {
  %w = nn.iota axis = 0 : tensor<64x64x3x3xf32>
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<4x28x28x64xf32>, tensor<64x64x3x3xf32>
  return %r : tensor<4x28x28x64xf32>
}

// -----

// CHECK-LABEL: @five_taps(
// CHECK: kernel.conv_winograd {{.*}} tile = array<i64: 4, 4>, window = array<i64: 5, 5>
func.func @five_taps(%x: tensor<8x12x12x20xf32>) -> tensor<8x8x8x50xf32> {
  %w = nn.iota axis = 1 : tensor<50x20x5x5xf32>
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<8x12x12x20xf32>, tensor<50x20x5x5xf32>
  return %r : tensor<8x8x8x50xf32>
}

// -----

// Long sums lose too many digits over eight frequencies: two outputs of five taps.
// CHECK-LABEL: @five_taps_of_many_channels(
// CHECK: kernel.conv_winograd {{.*}} tile = array<i64: 2, 2>, window = array<i64: 5, 5>
func.func @five_taps_of_many_channels(%x: tensor<8x12x12x256xf32>) -> tensor<8x8x8x32xf32> {
  %w = nn.iota axis = 1 : tensor<32x256x5x5xf32>
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<8x12x12x256xf32>, tensor<32x256x5x5xf32>
  return %r : tensor<8x8x8x32xf32>
}

// -----

// One channel is all transforms and no products to save.
// CHECK-LABEL: @one_channel(
// CHECK: nn.conv %
// ALL-LABEL: @one_channel(
// ALL: kernel.conv_winograd
func.func @one_channel(%x: tensor<1x28x28x1xf32>) -> tensor<1x28x28x64xf32> {
  %w = nn.iota axis = 0 : tensor<64x1x3x3xf32>
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<1x28x28x1xf32>, tensor<64x1x3x3xf32>
  return %r : tensor<1x28x28x64xf32>
}

// -----

// ALL-LABEL: @cannot(
// ALL-NOT: kernel.conv_winograd
// ALL: return
func.func @cannot(%x: tensor<2x28x28x32xf32>, %u: tensor<32x32x3x3xf32>, %d: tensor<2x28x28x32xf64>) -> (tensor<2x14x14x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf64>, tensor<2x28x28x32xf32>) {
  %w = nn.iota axis = 0 : tensor<32x32x3x3xf32>
  %strided = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<2x28x28x32xf32>, tensor<32x32x3x3xf32>
  %dilated = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, padding = array<i64: 2, 2, 2, 2>, channels_last} : tensor<2x28x28x32xf32>, tensor<32x32x3x3xf32>
  %computed = nn.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<2x28x28x32xf32>, tensor<32x32x3x3xf32>
  %v = nn.iota axis = 0 : tensor<32x1x3x3xf32>
  %grouped = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 32 : i64, channels_last} : tensor<2x28x28x32xf32>, tensor<32x1x3x3xf32>
  %z = nn.iota axis = 0 : tensor<32x32x3x3xf64>
  %double = nn.conv %d, %z {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<2x28x28x32xf64>, tensor<32x32x3x3xf64>
  %s = nn.constant dense<0.5> : tensor<32x32x3x3xf32>
  %splat = nn.conv %x, %s {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, channels_last} : tensor<2x28x28x32xf32>, tensor<32x32x3x3xf32>
  return %strided, %dilated, %computed, %grouped, %double, %splat : tensor<2x14x14x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf32>, tensor<2x28x28x32xf64>, tensor<2x28x28x32xf32>
}
