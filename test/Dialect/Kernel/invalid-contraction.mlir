// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{packs a matrix, got 2x3x4xf32 of rank 3}}
  %0 = kernel.pack %x : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x40xf32>) {
  // expected-error@+1 {{has 3 groups of 40 columns}}
  %0 = kernel.pack %x {groups = 3 : i64} : tensor<2x40xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>) {
  // expected-error@+1 {{has 2 panels for 80 columns, which take 3}}
  %0 = kernel.matmul_packed %x, %w {columns = 80 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x15x32xf32>) {
  // expected-error@+1 {{contracts 16 columns of lhs with 15 rows of panels}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x15x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x16xf32>) {
  // expected-error@+1 {{takes panels of shape [panels, rows, 32], got 2x16x16xf32}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x16xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>) {
  // expected-error@+1 {{has no attribute 'columns'}}
  %0 = kernel.matmul_packed %x, %w : tensor<8x16xf32>, tensor<2x16x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error@+1 {{has 1 panels for 40 columns, which take 2}}
  %0 = kernel.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 40 : i64} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x8x8x3xf32>, %w: tensor<1x26x32xf32>) {
  // expected-error@+1 {{contracts 27 columns of lhs with 26 rows of panels}}
  %0 = kernel.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 16 : i64} : tensor<1x8x8x3xf32>, tensor<1x26x32xf32>
  return
}

// -----

func.func @winograd_rank(%x: tensor<8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{takes an input of 2 spatial dimensions, got 8x9x3xf32 of rank 3}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_tile(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{has a tile of 3 and a window of 3 in spatial dimension 1; tile + window - 1 must be 1, 4, 6 or 8}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 3>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_tile_count(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{tile sizes}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_panels(%x: tensor<1x8x9x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error @below {{contracts 108 columns of lhs with 27 rows of panels}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @winograd_channels(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{has 1 panels for 33 columns, which take 2}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 33 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @packed_columns(%x: tensor<8x16xf32>, %w: tensor<1x16x32xf32>) {
  // expected-error@+1 {{has -1 columns}}
  %r = kernel.matmul_packed %x, %w {columns = -1 : i64} : tensor<8x16xf32>, tensor<1x16x32xf32>
  return
}

// -----

func.func @packed_channels(%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error@+1 {{has -1 channels}}
  %r = kernel.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = -1 : i64} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @packed_groups(%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error@+1 {{splits 3 input channels into 2 groups}}
  %r = kernel.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 16 : i64, groups = 2 : i64} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @packed_rank(%x: tensor<8x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error@+1 {{takes an input of 1 to 3 spatial dimensions, got 8x3xf32 of rank 2}}
  %r = kernel.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 16 : i64} : tensor<8x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @depthwise_rank(%x: tensor<1x8x8x16xf32>, %w: tensor<3x16xf32>) {
  // expected-error@+1 {{slides filter 3x16xf32 of rank 2 over input 1x8x8x16xf32, whose windows and channels take rank 3}}
  %r = kernel.conv_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x8x8x16xf32>, tensor<3x16xf32>
  return
}

// -----

func.func @depthwise_channels(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x8xf32>) {
  // expected-error@+1 {{convolves 16 channels of input with 8 channels of filter (1x8x8x16xf32 and 3x3x8xf32)}}
  %r = kernel.conv_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x8x8x16xf32>, tensor<3x3x8xf32>
  return
}

// -----

func.func @depthwise_dot_filter(%x: tensor<1x8x8x20xui8>, %w: tensor<1x3x20x4xi8>) {
  // expected-error@+1 {{takes a filter of shape [1, 3, 32, 4], got 1x3x20x4xi8}}
  %r = kernel.conv_depthwise_dot %x, %w {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x8x8x20xui8>, tensor<1x3x20x4xi8>
  return
}

// -----

func.func @depthwise_dot_window(%x: tensor<1x8x8x20xui8>, %w: tensor<1x3x32x4xi8>) {
  // expected-error@+1 {{has 1 window sizes for 2 spatial dimensions}}
  %r = kernel.conv_depthwise_dot %x, %w {window = array<i64: 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x8x8x20xui8>, tensor<1x3x32x4xi8>
  return
}

// -----

func.func @depthwise_dot_fill(%x: tensor<1x8x8x20xui8>, %w: tensor<1x3x32x4xi8>) {
  // expected-error@+1 {{fills the padding with 256, which is no ui8}}
  %r = kernel.conv_depthwise_dot %x, %w {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, fill = 256 : i64} : tensor<1x8x8x20xui8>, tensor<1x3x32x4xi8>
  return
}

// -----

func.func @winograd_outputs(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error@+1 {{has -1 channels}}
  %r = kernel.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = -1 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @parts_types(%x: tensor<4x16x16x3xf32>, %g: tensor<4x16x16x8xf64>) {
  // expected-error@below {{combines f32 of input with f64 of cotangent}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xf32>, tensor<4x16x16x8xf64>
  return
}

// -----

func.func @parts_rank(%x: tensor<4x16x16x3xf32>, %g: tensor<4x256x8xf32>) {
  // expected-error@below {{has cotangent 4x256x8xf32 of rank 3 for input 4x16x16x3xf32}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xf32>, tensor<4x256x8xf32>
  return
}

// -----

func.func @parts_positions(%x: tensor<4x16x16x3xf32>, %g: tensor<4x16x15x8xf32>) {
  // expected-error@below {{has cotangent 4x16x15x8xf32 for 4 samples of 16x16 windows}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xf32>, tensor<4x16x15x8xf32>
  return
}

// -----

func.func @parts_groups(%x: tensor<4x16x16x3xf32>, %g: tensor<4x16x16x8xf32>) {
  // expected-error@below {{splits 3 input channels into 2 groups}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<4x16x16x3xf32>, tensor<4x16x16x8xf32>
  return
}

// -----

func.func @parts_windows(%x: tensor<4x16x16x3xf32>, %g: tensor<4x16x16x8xf32>) {
  // expected-error@below {{has 1 window sizes for 2 spatial dimensions}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xf32>, tensor<4x16x16x8xf32>
  return
}

// -----

func.func @parts_halves(%x: tensor<4x16x16x3xbf16>, %g: tensor<4x16x16x8xbf16>) {
  // expected-error@below {{operand #0 must be statically shaped tensor of 32-bit float or 64-bit float values, but got 'tensor<4x16x16x3xbf16>'}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xbf16>, tensor<4x16x16x8xbf16>
  return
}

// -----

func.func @parts_integers(%x: tensor<4x16x16x3xi32>, %g: tensor<4x16x16x8xi32>) {
  // expected-error@below {{operand #0 must be statically shaped tensor of 32-bit float or 64-bit float values, but got 'tensor<4x16x16x3xi32>'}}
  %r = kernel.conv_filter_grad_parts %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<4x16x16x3xi32>, tensor<4x16x16x8xi32>
  return
}

// -----

func.func @parts_result(%x: tensor<4x16x16x3xf32>, %g: tensor<4x16x16x8xf32>) {
  // expected-error@below {{failed to infer returned types}}
  // expected-error@below {{inferred type(s) 'tensor<2x8x3x3x3xf32>' are incompatible with return type(s) of operation 'tensor<1x8x3x3x3xf32>'}}
  %r = "kernel.conv_filter_grad_parts"(%x, %g) {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : (tensor<4x16x16x3xf32>, tensor<4x16x16x8xf32>) -> tensor<1x8x3x3x3xf32>
  return
}

// -----

func.func @sum_of_no_parts(%x: tensor<f32>) {
  // expected-error@+1 {{adds up parts along the first dimension, got }}
  %r = kernel.sum_parts %x : tensor<f32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xi8>) {
  // expected-error@+1 {{interleaves 0 rows}}
  %0 = kernel.pack %x {interleave = 0 : i64} : tensor<8x16xi8>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xui8>, %w: tensor<2x16x32xi8>) {
  // expected-error@+1 {{takes panels of shape [panels, rows, 32, 4], got 2x16x32xi8}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xui8>, tensor<2x16x32xi8>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xbf16>, %w: tensor<2x4x32x4xbf16>) {
  // expected-error@+1 {{takes panels of shape [panels, rows, 32, 2], got 2x4x32x4xbf16}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xbf16>, tensor<2x4x32x4xbf16>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xi8>, %w: tensor<2x4x32x4xui8>) {
  // expected-error@+1 {{combines i8 of lhs with ui8 of panels}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xi8>, tensor<2x4x32x4xui8>
  return
}

// -----

func.func @rejected(%x: tensor<1x8x8x3xui8>, %w: tensor<1x9x32x4xi8>) {
  // expected-error@+1 {{has padding, and 3 channels, which 4 does not divide}}
  %0 = kernel.conv_packed %x, %w {window = array<i64: 3, 3>, channels = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x3xui8>, tensor<1x9x32x4xi8>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has -1 columns}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = -1 : i64, bits = 4 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has codes of 5 bits; there are those of 4 and 8}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 5 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has the zero point 256, which is no byte}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 32 : i64, zero = 256 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x16x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{contracts 8 columns of lhs with 16 rows of panels}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x16x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has groups of 12 rows, which 8 does not divide}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 12 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has groups of 0 rows}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 0 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x3x32xf32>) {
  // expected-error@+1 {{has scales 2x3x32xf32; expected 2x2x32}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x3x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>, %z: tensor<2x1x32xui8>) {
  // expected-error@+1 {{has zeros 2x1x32xui8; expected 2x2x32}}
  %r = kernel.matmul_narrow %x, %w, %s, %z {columns = 40 : i64, bits = 4 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>, tensor<2x1x32xui8>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has no attribute 'bits'}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has no attribute 'group'}}
  %r = kernel.matmul_narrow %x, %w, %s {columns = 40 : i64, bits = 4 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow(%x: tensor<8x64xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has no attribute 'columns'}}
  %r = kernel.matmul_narrow %x, %w, %s {bits = 4 : i64, group = 32 : i64} : tensor<8x64xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @halves(%x: tensor<8x16xui8>, %w: tensor<2x2x32x4xi8>) {
  // expected-error@+1 {{has `lowest` for 8x16xui8 and 2x2x32x4xi8, which are not both ui8}}
  %r = kernel.matmul_packed %x, %w {columns = 40 : i64, lowest = -8 : i64} : tensor<8x16xui8>, tensor<2x2x32x4xi8>
  return
}

// -----

func.func @halves(%x: tensor<8x16xui8>, %w: tensor<2x2x32x4xui8>) {
  // expected-error@+1 {{has bytes from 113 on; expected -128 to 112}}
  %r = kernel.matmul_packed %x, %w {columns = 40 : i64, lowest = 113 : i64} : tensor<8x16xui8>, tensor<2x2x32x4xui8>
  return
}

// -----

func.func @halves(%x: tensor<8x16xui8>, %w: tensor<2x4x32x4xui8>) {
  // expected-error@+1 {{contracts 2 columns of lhs with 4 rows of panels}}
  %r = kernel.matmul_packed %x, %w {columns = 40 : i64, lowest = -8 : i64} : tensor<8x16xui8>, tensor<2x4x32x4xui8>
  return
}

// -----

func.func @narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x3xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has lhs_scales 8x3xf32; expected 8x2}}
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64, group = 32 : i64} : tensor<8x64xi8>, tensor<8x3xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has groups of 48 of 64 rows; expected whole ones of at most 65536}}
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64, group = 48 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x1x32xf32>) {
  // expected-error@+1 {{has scales 2x1x32xf32; expected 2x2x32}}
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64, group = 32 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x1x32xf32>
  return
}

// -----

func.func @narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x16x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{contracts 8 columns of lhs with 16 rows of panels}}
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64, group = 32 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x16x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @narrow_dot(%x: tensor<8x64xi8>, %t: tensor<8x2xf32>, %w: tensor<2x8x32x4xui8>, %s: tensor<2x2x32xf32>) {
  // expected-error@+1 {{has no attribute 'group'}}
  %r = kernel.matmul_narrow_dot %x, %t, %w, %s {columns = 40 : i64} : tensor<8x64xi8>, tensor<8x2xf32>, tensor<2x8x32x4xui8>, tensor<2x2x32xf32>
  return
}

// -----

func.func @f(%x: tensor<4x1100x40xf32>, %g: tensor<1100x24xf32>) {
  // expected-error@+1 {{takes two matrices, got 4x1100x40xf32}}
  %p = kernel.matmul_parts %x, %g : tensor<4x1100x40xf32>, tensor<1100x24xf32>
  return
}

// -----

func.func @f(%x: tensor<1100x40xf32>, %g: tensor<1101x24xf32>) {
  // expected-error@+1 {{takes sides of as many rows, got 1100x40xf32 and 1101x24xf32}}
  %p = kernel.matmul_parts %x, %g : tensor<1100x40xf32>, tensor<1101x24xf32>
  return
}
