// RUN: %sprig-opt %s --sprig-differentiate --split-input-file --verify-diagnostics

func.func @packed(%x: tensor<8x16xf32>, %w: tensor<2x16x32xf32>, %s: tensor<8x40xf32>) -> tensor<8x16xf32> {
  // expected-error@+1 {{'kernel.matmul_packed' op cannot be differentiated: it is made by rewrites that come after differentiation}}
  %0 = kernel.matmul_packed %x, %w {columns = 40 : i64} : tensor<8x16xf32>, tensor<2x16x32xf32>
  %r = nn.gradient %0 seed %s wrt %x : (tensor<8x40xf32>, tensor<8x40xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @groups(%x: tensor<4x3xf32>, %c: tensor<3xf32>, %s: tensor<3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'nn.batch_norm_train' op has no gradient through the variance of groups}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, groups = ["data"]} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>
  %r = nn.gradient %0#2 seed %s wrt %x : (tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

func.func @groups_twice(%x: tensor<4x3xf32>, %c: tensor<3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'nn.batch_norm_train_grad' op has no gradient of its own in groups}}
  %0:3 = nn.batch_norm_train_grad %x, %c, %x {epsilon = 1.0e-5 : f64, groups = ["data"]} : tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>
  %r = nn.gradient %0#0 seed %x wrt %x : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

func.func @scatter(%x: tensor<4x3xf32>, %i: tensor<2x1xi64>, %u: tensor<2x3xf32>, %s: tensor<4x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'nn.scatter_nd' op has no gradient when it combines by max; expected none or add}}
  %0 = nn.scatter_nd max %x, %i, %u : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>
  %r = nn.gradient %0 seed %s wrt %u : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @layout(%x: tensor<1x8x8x3xf32>, %w: tensor<16x3x3x3xf32>, %s: tensor<1x6x6x16xf32>) -> tensor<16x3x3x3xf32> {
  // expected-error@+1 {{'nn.conv' op has no gradient with channels last}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<1x8x8x3xf32>, tensor<16x3x3x3xf32>
  %r = nn.gradient %0 seed %s wrt %w : (tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>, tensor<16x3x3x3xf32>) -> tensor<16x3x3x3xf32>
  return %r : tensor<16x3x3x3xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.while' op has no gradient in reverse mode, since only its run tells the number of its steps; nn.scan, which runs a fixed number of steps, has one}}
  %0 = nn.while max_steps = 5 carry (%v = %x : tensor<4xf32>) {
    %1 = nn.reduce max %v axes = [0] : tensor<4xf32>
    %2 = nn.constant dense<1.0> : tensor<f32>
    %3 = nn.compare lt %1, %2 : tensor<f32>, tensor<f32>
    nn.yield %3 : tensor<i1>
  } do {
    %1 = nn.exp %v : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  %r = nn.gradient %0 seed %s wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
