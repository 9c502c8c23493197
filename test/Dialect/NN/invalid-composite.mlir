// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has axis 2 on 2x3xf32 of rank 2}}
  %0 = nn.softmax %x axis = 2 : tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has axis -1 on 2x3xf32 of rank 2}}
  %0 = nn.log_softmax %x axis = -1 : tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has no attribute 'gamma'}}
  %0 = nn.selu %x {alpha = 1.0 : f64} : tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has no attribute 'beta'}}
  %0 = nn.hard_sigmoid %x {alpha = 1.0 : f64} : tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error@+1 {{contracts 3 columns of operand with 5 columns of weight (2x3xf32 and 4x5xf32)}}
  %0 = nn.linear %x, %w : tensor<2x3xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{adds bias 3xf32 to 4 columns}}
  %0 = nn.linear %x, %w, %b : tensor<2x3xf32>, tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %w: tensor<3xf32>) {
  // expected-error@+1 {{takes a weight of rank 2, got 3xf32 of rank 1}}
  %0 = nn.linear %x, %w : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{has variance 4xf32 for 3 channels of operand 2x3x4xf32}}
  %0 = nn.batch_norm %x, %c, %c, %c, %v {epsilon = 1.0e-5 : f64} : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has no attribute 'epsilon'}}
  %0 = nn.batch_norm %x, %c, %c, %c, %c : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x4xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{does not broadcast scale 3xf32 to operand 2x4xf32}}
  %0 = nn.layer_norm %x, %c axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x4xf32>, %c: tensor<4xf32>, %s: tensor<4xf64>) {
  // expected-error@+1 {{combines f32 of operand with f64 of shift}}
  %0 = nn.layer_norm %x, %c, %s axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2x4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{has axis 2 on 2x4xf32 of rank 2}}
  %0 = nn.rms_norm %x, %c axis = 2 {epsilon = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x6x4xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{splits 6 channels into 4 groups}}
  %0 = nn.group_norm %x, %c, %c {groups = 4 : i64, epsilon = 1.0e-5 : f64} : tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>
  return
}
