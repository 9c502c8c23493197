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
