// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<8x10xf32>, %t: tensor<7xi64>) {
  // expected-error@+1 {{has targets 7xi64 for operand 8x10xf32, whose last dimension are the classes}}
  %0 = nn.cross_entropy mean %x, %t : tensor<8x10xf32>, tensor<7xi64>
  return
}

// -----

func.func @rejected(%x: tensor<8x10xf32>, %t: tensor<8xi64>) {
  // expected-error@+1 {{has label_smoothing 1.5}}
  %0 = nn.cross_entropy mean %x, %t {label_smoothing = 1.5 : f64} : tensor<8x10xf32>, tensor<8xi64>
  return
}

// -----

func.func @rejected(%x: tensor<8x10xf32>, %t: tensor<8xi64>, %w: tensor<9xf32>) {
  // expected-error@+1 {{has weights 9xf32 for 10 classes}}
  %0 = nn.nll_loss mean %x, %t weights %w : tensor<8x10xf32>, tensor<8xi64>, tensor<9xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x10xf32>, %t: tensor<8xi64>, %w: tensor<10xf64>) {
  // expected-error@+1 {{combines f32 of operand with f64 of weights}}
  %0 = nn.nll_loss mean %x, %t weights %w : tensor<8x10xf32>, tensor<8xi64>, tensor<10xf64>
  return
}

// -----

func.func @rejected(%x: tensor<f32>, %t: tensor<i64>) {
  // expected-error@+1 {{rank}}
  %0 = nn.nll_loss mean %x, %t : tensor<f32>, tensor<i64>
  return
}

// -----

func.func @rejected(%x: tensor<8x10xf32>, %t: tensor<8xf32>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of 64-bit signless integer or 32-bit signless integer}}
  %0 = nn.cross_entropy mean %x, %t : tensor<8x10xf32>, tensor<8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x4xf32>, %t: tensor<8x3xf32>) {
  // expected-error@+1 {{has targets 8x3xf32 for operand 8x4xf32}}
  %0 = nn.mse_loss mean %x, %t : tensor<8x4xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<8x4xf32>, %t: tensor<8x4xf64>) {
  // expected-error@+1 {{has targets 8x4xf64 for operand 8x4xf32}}
  %0 = nn.kl_div_loss sum %x, %t : tensor<8x4xf32>, tensor<8x4xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %k: tensor<i64>) {
  // expected-error@+1 {{has ratio 1.5}}
  %0 = nn.dropout %x, %k, %k {ratio = 1.5 : f64} : tensor<2x3xf32>, tensor<i64>, tensor<i64>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %k: tensor<i64>, %c: tensor<2xi64>) {
  // expected-error@+1 {{has counter 2xi64, expected one element}}
  %0 = nn.dropout %x, %k, %c {ratio = 0.5 : f64} : tensor<2x3xf32>, tensor<i64>, tensor<2xi64>
  return
}

// -----

func.func @rejected(%i: tensor<3xi64>, %k: tensor<2xi64>, %c: tensor<i64>) {
  // expected-error@+1 {{broadcast}}
  %0 = nn.philox %i, %k, %c : tensor<3xi64>, tensor<2xi64>, tensor<i64>
  return
}

// -----

func.func @rejected(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{has dims 3 of 8x4xf32}}
  %0 = nn.loss_mean %x {dims = 3 : i64} : tensor<8x4xf32>
  return
}

// -----

func.func @rejected(%g: tensor<8xf32>, %x: tensor<8x4xf32>) {
  // expected-error@+1 {{has cotangent 8xf32; expected one number}}
  %0 = nn.loss_mean_grad %g like %x {dims = 2 : i64} : tensor<8xf32>, tensor<8x4xf32>
  return
}
