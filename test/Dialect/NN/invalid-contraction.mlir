// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>, %y: tensor<5x4xf32>) {
  // expected-error@+1 {{contracts 3 columns of lhs with 5 rows of rhs (2x3xf32 and 5x4xf32)}}
  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %y: tensor<5x4xf32>) {
  // expected-error@+1 {{contracts 2 rows of lhs with 4 columns of rhs}}
  %0 = nn.matmul %x, %y {transpose_lhs, transpose_rhs} : tensor<2x3xf32>, tensor<5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{takes lhs of rank 2 or more, got 3xf32 of rank 1}}
  %0 = nn.matmul %x, %y : tensor<3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{takes rhs of rank 2 or more, got 3xf32 of rank 1}}
  %0 = nn.matmul %y, %x : tensor<3x4xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>, %y: tensor<5x4x3xf32>) {
  // expected-error@+1 {{does not broadcast the leading dimensions of lhs 2x3x4xf32 with those of rhs 5x4x3xf32}}
  %0 = nn.matmul %x, %y : tensor<2x3x4xf32>, tensor<5x4x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %y: tensor<3x4xf64>) {
  // expected-error@+1 {{combines f32 of lhs with f64 of rhs}}
  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<3x4xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{packs a matrix, got 2x3x4xf32 of rank 3}}
  %0 = nn.pack %x : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x40xf32>) {
  // expected-error@+1 {{has 3 groups of 40 columns}}
  %0 = nn.pack %x {groups = 3 : i64} : tensor<2x40xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>) {
  // expected-error@+1 {{has 2 panels for 80 columns, which take 3}}
  %0 = nn.matmul_packed %x, %w {columns = 80 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x15x32xf32>) {
  // expected-error@+1 {{contracts 16 columns of lhs with 15 rows of panels}}
  %0 = nn.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x15x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x16xf32>) {
  // expected-error@+1 {{takes panels of shape [panels, rows, 32], got 2x16x16xf32}}
  %0 = nn.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x16xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>) {
  // expected-error@+1 {{has no attribute 'columns'}}
  %0 = nn.matmul_packed %x, %w : tensor<8x16xf32>, tensor<2x16x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{convolves 3 channels of input with 4 channels of filter (1x3x8x8xf32 and 8x4x3x3xf32, 1 group)}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x4x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{splits 3 input channels into 2 groups}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x3x8x8xf32>, tensor<8x4x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x4x8x8xf32>, %w: tensor<9x2x3x3xf32>) {
  // expected-error@+1 {{splits 9 output channels into 2 groups}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : tensor<1x4x8x8xf32>, tensor<9x2x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3xf32>) {
  // expected-error@+1 {{slides filter 8x3x3xf32 of rank 3 over input 1x3x8x8xf32 of rank 4}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error@+1 {{takes an input of 1 to 3 spatial dimensions, got 3x8xf32 of rank 2}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has 1 strides for 2 spatial dimensions}}
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has 3 dilations for 2 spatial dimensions}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has 2 padding sizes for 4 ends of spatial dimensions}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has window size 3, stride 0 and dilation 1 in spatial dimension 1}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has padding -1 and 0 in spatial dimension 0}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: -1, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{slides a window that spans 9 over 8 elements of spatial dimension 0}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 4, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error@+1 {{has no attribute 'strides'}}
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x8x8x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error@+1 {{has 1 panels for 40 columns, which take 2}}
  %0 = nn.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 40 : i64} : tensor<1x8x8x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x8x8x3xf32>, %w: tensor<1x26x32xf32>) {
  // expected-error@+1 {{contracts 27 columns of lhs with 26 rows of panels}}
  %0 = nn.conv_packed %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, window = array<i64: 3, 3>, channels = 16 : i64} : tensor<1x8x8x3xf32>, tensor<1x26x32xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{convolves 3 channels of input with 4 channels of filter}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>} : tensor<1x3x8x8xf32>, tensor<4x6x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{crops 20 of 10 positions in spatial dimension 0}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 10, 0, 10, 0>, output_padding = array<i64: 0, 0>} : tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{has padding 0 and 0 and output padding -1 in spatial dimension 0}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: -1, 0>} : tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{has stride 0 and dilation 1 in spatial dimension 0}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>} : tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{has 4611686018427387904 in spatial dimension 1, which is more than 2^30}}
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 1, 4611686018427387904>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>} : tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>
  return
}

// -----

func.func @winograd_rank(%x: tensor<8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{takes an input of 2 spatial dimensions, got 8x9x3xf32 of rank 3}}
  %r = nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_tile(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{has a tile of 3 and a window of 3 in spatial dimension 1; tile + window - 1 must be 1, 4, 6 or 8}}
  %r = nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 3>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_tile_count(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{tile sizes}}
  %r = nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}

// -----

func.func @winograd_panels(%x: tensor<1x8x9x3xf32>, %w: tensor<1x27x32xf32>) {
  // expected-error @below {{contracts 108 columns of lhs with 27 rows of panels}}
  %r = nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 16 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x27x32xf32>
  return
}

// -----

func.func @winograd_channels(%x: tensor<1x8x9x3xf32>, %w: tensor<1x108x32xf32>) {
  // expected-error @below {{has 1 panels for 33 columns, which take 2}}
  %r = nn.conv_winograd %x, %w {window = array<i64: 3, 3>, tile = array<i64: 4, 4>, channels = 33 : i64, padding = array<i64: 1, 1, 1, 1>} : tensor<1x8x9x3xf32>, tensor<1x108x32xf32>
  return
}
