// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has axis 3 on 2x3x4xf32 of rank 3}}
  %0 = nn.reduce sum %x axes = [3] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has axis 0 after axis 1; axes ascend}}
  %0 = nn.reduce sum %x axes = [1, 0] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has axis 1 after axis 1; axes ascend}}
  %0 = nn.reduce_mean %x axes = [1, 1] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xi1>) {
  // expected-error@+1 {{knows the kinds max and min, got sum}}
  %0 = nn.reduce sum %x axes = [0] : tensor<2xi1>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{knows the kinds max and min, got prod}}
  %0 = nn.arg_reduce prod %x axis = 0 : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has axis -1 on 2x3x4xf32 of rank 3}}
  %0 = nn.arg_reduce max %x axis = -1 : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<0x2xf32>) {
  // expected-error@+1 {{chooses among 0 elements of dimension 0 of 0x2xf32}}
  %0 = nn.arg_reduce max %x axis = 0 : tensor<0x2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{knows the kinds sum and prod, got max}}
  %0 = nn.cumulative max %x axis = 0 : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has axis 5 on 2x3x4xf32 of rank 3}}
  %0 = nn.cumulative sum %x axis = 5 : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{picks 5 of 4 elements of dimension 2 of 2x3x4xf32}}
  %0, %1 = nn.top_k %x {k = 5 : i64, axis = 2 : i64} : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has no attribute 'k'}}
  %0, %1 = nn.top_k %x {axis = 2 : i64} : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{knows the kinds max and sum, got prod}}
  %0 = nn.pool prod %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{has 1 window sizes for 2 spatial dimensions}}
  %0 = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{slides a window that spans 9 over 8 elements of spatial dimension 0}}
  %0 = nn.pool max %x {window = array<i64: 9, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{takes operand of rank 3 or more, got 2x2xf32 of rank 2}}
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{has no attribute 'window sizes'}}
  %0 = nn.arg_max_pool %x : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{has 2 counted padding sizes for 4 ends of spatial dimensions}}
  %0 = nn.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, counted_padding = array<i64: 0, 0>} : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{counts 1 of 0 elements of padding}}
  %0 = nn.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, counted_padding = array<i64: 1, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{has 4611686018427387904 in spatial dimension 0, which is more than 2^30}}
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 4611686018427387904, 0, 0, 0>} : tensor<1x3x8x8xf32>
  return
}
