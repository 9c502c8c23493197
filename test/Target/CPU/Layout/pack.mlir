// RUN: sprig-opt %s --sprig-pack=matrices=false --split-input-file | FileCheck %s --check-prefix=FILTERS
// RUN: sprig-opt %s --sprig-pack --split-input-file | FileCheck %s

// The columns of a matrix [K, N] are padded to whole panels; the packing of a constant is evaluated.
// CHECK-LABEL: func.func @constant_matrix
// CHECK: %[[P:.*]] = nn.constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00
// CHECK-SAME: [4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00
// CHECK-SAME: : tensor<1x2x32xf32>
// CHECK-NOT: nn.matmul {{.*}}
// CHECK: kernel.matmul_packed %arg0, %[[P]] {columns = 3 : i64} : tensor<5x2xf32>, tensor<1x2x32xf32>
func.func @constant_matrix(%x: tensor<5x2xf32>) -> tensor<5x3xf32> {
  %w = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = nn.matmul %x, %w : tensor<5x2xf32>, tensor<2x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// A matrix [N, K], as linear layers store it, gives the same panels.
// CHECK-LABEL: func.func @transposed_matrix
// CHECK: nn.constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00
// CHECK-SAME: [4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00
// CHECK: kernel.matmul_packed %arg0, {{.*}} {columns = 3 : i64}
func.func @transposed_matrix(%x: tensor<5x2xf32>) -> tensor<5x3xf32> {
  %w = nn.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<5x2xf32>, tensor<3x2xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// Bytes lie in fours of a column; rows that are missing are zeros.
// CHECK-LABEL: func.func @bytes
// CHECK: nn.constant dense<"0x0103050702040608{{0+}}09000000F6000000{{0+}}"> : tensor<1x2x32x4xi8>
// CHECK: kernel.matmul_packed %arg0, %{{.*}} {columns = 2 : i64} : tensor<3x5xui8>, tensor<1x2x32x4xi8>
func.func @bytes(%x: tensor<3x5xui8>) -> tensor<3x2xi32> {
  %w = nn.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, -10]]> : tensor<5x2xi8>
  %0 = nn.matmul %x, %w {accumulator = i32} : tensor<3x5xui8>, tensor<5x2xi8>
  return %0 : tensor<3x2xi32>
}

// -----

// bf16 whose sums are f32 lie in twos; others as f32 do.
// CHECK-LABEL: func.func @halves
// CHECK: nn.constant dense<"0x803F4040{{0+}}A040{{0+}}"> : tensor<1x2x32x2xbf16>
// CHECK: kernel.matmul_packed %arg0, %{{.*}} {columns = 1 : i64} : tensor<2x3xbf16>, tensor<1x2x32x2xbf16>
// CHECK: kernel.matmul_packed %arg0, %{{.*}} {columns = 1 : i64} : tensor<2x3xbf16>, tensor<1x3x32xbf16>
func.func @halves(%x: tensor<2x3xbf16>) -> (tensor<2x1xf32>, tensor<2x1xbf16>) {
  %w = nn.constant dense<[[1.0], [3.0], [5.0]]> : tensor<3x1xbf16>
  %0 = nn.matmul %x, %w {accumulator = f32} : tensor<2x3xbf16>, tensor<3x1xbf16>
  %1 = nn.matmul %x, %w : tensor<2x3xbf16>, tensor<3x1xbf16>
  return %0, %1 : tensor<2x1xf32>, tensor<2x1xbf16>
}

// -----

// Three channels of two neighbours are six bytes together, filled up to eight; no padding could cut them, so it is
// written out.
// CHECK-LABEL: func.func @byte_filter
// CHECK: %[[P:.*]] = nn.pad constant %arg0, %{{.*}} low = [0, 0, 1, 0] high = [0, 0, 0, 0]
// CHECK: kernel.conv_packed %[[P]], %{{.*}} {{{.*}}padding = array<i64: 0, 0, 0, 0>{{.*}}} : tensor<1x4x5x3xui8>, tensor<1x4x32x4xi8>
func.func @byte_filter(%x: tensor<1x4x4x3xui8>) -> tensor<1x3x4x1xi32> {
  %w = nn.constant dense<1> : tensor<1x3x2x2xi8>
  %0 = nn.conv %x, %w {accumulator = i32, channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 0>} : tensor<1x4x4x3xui8>, tensor<1x3x2x2xi8>
  return %0 : tensor<1x3x4x1xi32>
}

// -----

// Four channels: the padding stays.
// CHECK-LABEL: func.func @padded_byte_filter
// CHECK-NOT: nn.pad
// CHECK: kernel.conv_packed %arg0, %{{.*}} {{{.*}}padding = array<i64: 1, 1, 1, 1>{{.*}}} : tensor<1x4x4x4xui8>, tensor<1x9x32x4xi8>
func.func @padded_byte_filter(%x: tensor<1x4x4x4xui8>) -> tensor<1x4x4x1xi32> {
  %w = nn.constant dense<1> : tensor<1x4x3x3xi8>
  %0 = nn.conv %x, %w {accumulator = i32, channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x4x4x4xui8>, tensor<1x4x3x3xi8>
  return %0 : tensor<1x4x4x1xi32>
}

// -----

// A splat stays one element.
// CHECK-LABEL: func.func @splat
// CHECK: nn.constant dense<5.000000e-01> : tensor<32x4096x32xf32>
// CHECK: kernel.matmul_packed {{.*}} {columns = 1000 : i64}
func.func @splat(%x: tensor<2x4096xf32>) -> tensor<2x1000xf32> {
  %w = nn.constant dense<0.5> : tensor<4096x1000xf32>
  %0 = nn.matmul %x, %w : tensor<2x4096xf32>, tensor<4096x1000xf32>
  return %0 : tensor<2x1000xf32>
}

// -----

// A parameter is packed at run time; two products share its panels.
nn.param @w = dense<1.0> : tensor<4x40xf32>
// CHECK-LABEL: func.func @parameter
// CHECK: %[[W:.*]] = nn.get_param @w
// CHECK-COUNT-1: kernel.pack %[[W]]
// CHECK-COUNT-2: kernel.matmul_packed
func.func @parameter(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) -> (tensor<2x40xf32>, tensor<3x40xf32>) {
  %w = nn.get_param @w : tensor<4x40xf32>
  %0 = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x40xf32>
  %1 = nn.matmul %y, %w : tensor<3x4xf32>, tensor<4x40xf32>
  return %0, %1 : tensor<2x40xf32>, tensor<3x40xf32>
}

// -----

// Both ways around, as a layer and its backward pass read it: the constant, which nobody reads then, goes once.
// CHECK-LABEL: func.func @both_ways
// CHECK-NOT: tensor<2x3xf32>
// CHECK-COUNT-2: kernel.matmul_packed
func.func @both_ways(%x: tensor<5x2xf32>, %y: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x2xf32>) {
  %w = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = nn.matmul %x, %w : tensor<5x2xf32>, tensor<2x3xf32>
  %1 = nn.matmul %y, %w {transpose_rhs} : tensor<5x3xf32>, tensor<2x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x2xf32>
}

// -----

// Left alone: a computed right side, a different matrix for each element of the batch, a transposed left side.
// CHECK-LABEL: func.func @not_packed
// CHECK-NOT: kernel.matmul_packed
func.func @not_packed(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>, %z: tensor<4x6xf32>)
    -> (tensor<2x3x5xf32>, tensor<2x3x2xf32>, tensor<6x5xf32>) {
  %b = nn.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
                          [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5], [7.5, 8.5]]]> : tensor<2x4x2xf32>
  %c = nn.constant dense<1.0> : tensor<4x5xf32>
  %0 = nn.matmul %x, %y : tensor<2x3x4xf32>, tensor<4x5xf32>
  %1 = nn.matmul %x, %b : tensor<2x3x4xf32>, tensor<2x4x2xf32>
  %2 = nn.matmul %z, %c {transpose_lhs} : tensor<4x6xf32>, tensor<4x5xf32>
  return %0, %1, %2 : tensor<2x3x5xf32>, tensor<2x3x2xf32>, tensor<6x5xf32>
}

// -----

// Rows of a packed filter: window positions outside, channels inside; output channels side by side.
// CHECK-LABEL: func.func @filter
// The bytes of 1, 5, 3, 7, 2, 6, 4, 8, two to a row.
// CHECK: nn.constant dense<"0x0000803F0000A040{{0+}}40400000E040{{0+}}400000C040{{0+}}804000000041{{0+}}"> : tensor<1x4x32xf32>
// CHECK: kernel.conv_packed {{.*}}channels = 2 : i64{{.*}}window = array<i64: 2>{{.*}} : tensor<1x6x2xf32>, tensor<1x4x32xf32>
func.func @filter(%x: tensor<1x6x2xf32>) -> tensor<1x5x2xf32> {
  %w = nn.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, channels_last}
      : tensor<1x6x2xf32>, tensor<2x2x2xf32>
  return %0 : tensor<1x5x2xf32>
}

// -----

// Each group is padded to whole panels; a computed filter is packed at run time.
// CHECK-LABEL: func.func @groups
// CHECK: kernel.pack {{.*}} {groups = 2 : i64, transposed}
// CHECK: kernel.conv_packed {{.*}}groups = 2 : i64{{.*}} tensor<4x6x32xf32>
func.func @groups(%x: tensor<1x6x4xf32>, %w: tensor<80x2x3xf32>) -> tensor<1x4x80xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 2 : i64, channels_last}
      : tensor<1x6x4xf32>, tensor<80x2x3xf32>
  return %0 : tensor<1x4x80xf32>
}

// -----

// One filter for each channel: channels go to the end, no panels.
// A single channel is one for each channel, too, where neighbours in width are next to each other.
// CHECK-LABEL: func.func @one_channel
// CHECK: kernel.conv_depthwise %arg0, %{{.*}} tensor<1x6x9x1xf32>, tensor<3x3x1xf32>
// CHECK: kernel.conv_packed
func.func @one_channel(%x: tensor<1x6x9x1xf32>, %w: tensor<1x1x3x3xf32>) -> (tensor<1x4x7x1xf32>, tensor<1x4x4x1xf32>) {
  %0 = nn.conv %x, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x6x9x1xf32>, tensor<1x1x3x3xf32>
  %1 = nn.conv %x, %w {channels_last, strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x6x9x1xf32>, tensor<1x1x3x3xf32>
  return %0, %1 : tensor<1x4x7x1xf32>, tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: %[[F:.*]] = nn.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK: kernel.conv_depthwise %arg0, %[[F]]
func.func @depthwise(%x: tensor<1x6x2xf32>) -> tensor<1x5x2xf32> {
  %w = nn.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 2 : i64, channels_last}
      : tensor<1x6x2xf32>, tensor<2x1x2xf32>
  return %0 : tensor<1x5x2xf32>
}

// -----

// Bytes: taps above each other side by side, channels in whole vectors; the pad in front is the kernel's own.
// CHECK-LABEL: func.func @depthwise_bytes
// CHECK: %[[F:.*]] = nn.constant dense<"0x01030000{{.*}}"> : tensor<1x2x16x4xi8>
// CHECK-NOT: nn.pad
// CHECK: kernel.conv_depthwise_dot %arg0, %[[F]] {dilations = array<i64: 1, 1>, fill = 9 : i64, padding = array<i64: 1, 0, 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 2, 2>}
func.func @depthwise_bytes(%x: tensor<1x6x5x2xui8>) -> tensor<1x6x5x2xi32> {
  %w = nn.constant dense<[[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]]> : tensor<2x1x2x2xi8>
  %z = nn.constant dense<9> : tensor<ui8>
  %p = nn.pad constant %x, %z low = [0, 1, 0, 0] high = [0, 0, 1, 0] : tensor<1x6x5x2xui8>, tensor<ui8>
  %0 = nn.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64, channels_last, accumulator = i32}
      : tensor<1x7x6x2xui8>, tensor<2x1x2x2xi8>
  return %0 : tensor<1x6x5x2xi32>
}

// -----

// A pad of a number that is not known, and one beside padding of the convolution's own, stay.
// CHECK-LABEL: func.func @depthwise_bytes_padded
// CHECK-COUNT-2: nn.pad
// CHECK: kernel.conv_depthwise_dot %{{.*}} {dilations = array<i64: 1>, padding = array<i64: 0, 0>, strides
// CHECK: kernel.conv_depthwise_dot %{{.*}} {dilations = array<i64: 1>, padding = array<i64: 1, 1>, strides
func.func @depthwise_bytes_padded(%x: tensor<1x6x2xui8>, %y: tensor<ui8>) -> (tensor<1x6x2xi32>, tensor<1x8x2xi32>) {
  %w = nn.constant dense<[[[1, 2]], [[5, 6]]]> : tensor<2x1x2xi8>
  %z = nn.constant dense<9> : tensor<ui8>
  %p = nn.pad constant %x, %y low = [0, 1, 0] high = [0, 0, 0] : tensor<1x6x2xui8>, tensor<ui8>
  %q = nn.pad constant %x, %z low = [0, 1, 0] high = [0, 0, 0] : tensor<1x6x2xui8>, tensor<ui8>
  %0 = nn.conv %p, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, groups = 2 : i64, channels_last, accumulator = i32}
      : tensor<1x7x2xui8>, tensor<2x1x2xi8>
  %1 = nn.conv %q, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 2 : i64, channels_last, accumulator = i32}
      : tensor<1x7x2xui8>, tensor<2x1x2xi8>
  return %0, %1 : tensor<1x6x2xi32>, tensor<1x8x2xi32>
}

// -----

// Channels second: the layout pass comes first.
// CHECK-LABEL: func.func @channels_second
// CHECK: nn.conv %
// CHECK-NOT: kernel.conv_packed
func.func @channels_second(%x: tensor<1x2x6xf32>, %w: tensor<2x2x2xf32>) -> tensor<1x2x5xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 0, 0>}
      : tensor<1x2x6xf32>, tensor<2x2x2xf32>
  return %0 : tensor<1x2x5xf32>
}

// -----

// Where parameters stay state, filters are packed in every run; matrices are read as they lie.
// CHECK-LABEL: func.func @state
// CHECK: kernel.conv_packed
// CHECK: kernel.matmul_packed
// FILTERS-LABEL: func.func @state
// FILTERS: kernel.pack
// FILTERS: kernel.conv_packed
// FILTERS: nn.matmul
// FILTERS-NOT: kernel.matmul_packed
// FILTERS: return
nn.param @w = dense<1.0> : tensor<8x4x3x3xf32>
nn.param @m = dense<1.0> : tensor<8x5xf32>
func.func @state(%x: tensor<1x6x6x4xf32>) -> tensor<16x5xf32> {
  %w = nn.get_param @w : tensor<8x4x3x3xf32>
  %0 = nn.conv %x, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
      : tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>
  %1 = nn.reshape %0 : tensor<1x4x4x8xf32> to tensor<16x8xf32>
  %m = nn.get_param @m : tensor<8x5xf32>
  %2 = nn.matmul %1, %m : tensor<16x8xf32>, tensor<8x5xf32>
  return %2 : tensor<16x5xf32>
}

// -----

// Bytes of which there are 16 neighbouring numbers at most are halves of one; matrices of a few kilobytes are not.
// CHECK-LABEL: func.func @halves
// CHECK: %[[P:.*]] = nn.constant dense<255> : tensor<4x20x32x4xui8>
// CHECK: kernel.matmul_packed %arg0, %[[P]] {columns = 128 : i64, lowest = 112 : i64} : tensor<3x160xui8>, tensor<4x20x32x4xui8>
// CHECK: kernel.matmul_packed %arg1, %{{.*}} {columns = 8 : i64} : tensor<3x8xui8>, tensor<1x2x32x4xi8>
func.func @halves(%x: tensor<3x160xui8>, %y: tensor<3x8xui8>) -> (tensor<3x128xi32>, tensor<3x8xi32>) {
  %w = nn.constant dense<127> : tensor<160x128xi8>
  %v = nn.constant dense<3> : tensor<8x8xi8>
  %0 = nn.matmul %x, %w {accumulator = i32} : tensor<3x160xui8>, tensor<160x128xi8>
  %1 = nn.matmul %y, %v {accumulator = i32} : tensor<3x8xui8>, tensor<8x8xi8>
  return %0, %1 : tensor<3x128xi32>, tensor<3x8xi32>
}
