// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{does not broadcast lhs 2x3xf32 with rhs 4xf32}}
  %0 = nn.add %x, %y : tensor<2x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@+1 {{combines f32 of lhs with i32 of rhs}}
  %0 = nn.mul %x, %y : tensor<2xf32>, tensor<2xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{combines f32 of lhs with f64 of rhs}}
  %0 = nn.compare lt %x, %y : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = nn.exp %x : tensor<2xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = nn.not %x : tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<?xf32>) {
  // expected-error@+1 {{takes a tensor of static shape as operand, got ?xf32}}
  %0 = nn.exp %x : tensor<?xf32>
  return
}

// -----

func.func @rejected(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xi64>) {
  // expected-error@+1 {{combines f32 of on_true with i64 of on_false}}
  %0 = nn.select %c, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xi64>
  return
}

// -----

func.func @rejected(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{does not broadcast on_true 2xf32 with on_false 3xf32}}
  %0 = nn.select %c, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{does not broadcast condition 3xi1 with values 2xf32}}
  %0 = nn.select %c, %x, %x : tensor<3xi1>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{changes the shape of 2xf32 to that of 3xi32}}
  %0 = nn.cast %x : tensor<2xf32> to tensor<3xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{changes the shape of 2xf32 to that of 3xi32}}
  %0 = nn.bitcast %x : tensor<2xf32> to tensor<3xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{reads 32 bits of 'f32' as 16 bits of 'i16'}}
  %0 = nn.bitcast %x : tensor<2xf32> to tensor<2xi16>
  return
}

// -----

func.func @rejected(%x: tensor<1152921504606846976x64xf32>) {
  // expected-error@+1 {{takes operand of uncountable shape 1152921504606846976x64xf32}}
  %0 = nn.exp %x : tensor<1152921504606846976x64xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1099511627776x1xf32>, %y: tensor<1x1099511627776xf32>) {
  // expected-error@+1 {{has a result of shape 1099511627776x1099511627776xf32, of more than 2^48 elements}}
  %0 = nn.add %x, %y : tensor<1099511627776x1xf32>, tensor<1x1099511627776xf32>
  return
}

// -----

func.func @rejected(%p: tensor<8xf32>) {
  // expected-error@+1 {{has the range from 1.000000e+00 to 0.000000e+00, which holds no value}}
  %0 = nn.in_range %p {low = 1.0, high = 0.0} : tensor<8xf32>
  return
}

// -----

func.func @rejected(%p: tensor<8xf32>) {
  // expected-error@+1 {{has the range from nan to 0.000000e+00, which holds no value}}
  %0 = nn.in_range %p {low = 0x7FF8000000000000 : f64, high = 0.0} : tensor<8xf32>
  return
}
