// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected() {
  // expected-error@+1 {{has axis 2 on 2x3xf32 of rank 2}}
  %0 = nn.iota axis = 2 : tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{reshapes 6 elements of 2x3xf32 to 8 of 2x4xf32}}
  %0 = nn.reshape %x : tensor<2x3xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{changes the element type from 'f32' to 'f64'}}
  %0 = nn.reshape %x : tensor<2x3xf32> to tensor<6xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{does not broadcast 2x3xf32 to 2x4xf32}}
  %0 = nn.broadcast %x : tensor<2x3xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{does not broadcast 2x3xf32 to 3xf32}}
  %0 = nn.broadcast %x : tensor<2x3xf32> to tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3xf32>) {
  // expected-error@+1 {{changes the element type from 'f32' to 'i32'}}
  %0 = nn.broadcast %x : tensor<3xf32> to tensor<2x3xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has 2 permutation entries for 3 dimensions}}
  %0 = nn.transpose %x [0, 1] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{permutes dimension 3 of 2x3x4xf32 of rank 3}}
  %0 = nn.transpose %x [0, 1, 3] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has dimension 1 twice in its permutation}}
  %0 = nn.transpose %x [0, 1, 1] : tensor<2x3x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes elements 2 to 4 of 4 in dimension 0}}
  %0 = nn.slice %x starts = [2] sizes = [3] steps = [1] : tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes elements 1 to -1 of 4 in dimension 0}}
  %0 = nn.slice %x starts = [1] sizes = [3] steps = [-1] : tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes 3 elements by steps of 0 from dimension 0}}
  %0 = nn.slice %x starts = [1] sizes = [3] steps = [0] : tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 2 starts for 1 dimensions}}
  %0 = nn.slice %x starts = [1, 1] sizes = [3] steps = [0] : tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{joins operand 0 2x3xf32 with operand 1 3x3xf32 along axis 1}}
  %0 = nn.concat %x, %y axis = 1 : tensor<2x3xf32>, tensor<3x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{combines f32 of operand 0 with f64 of operand 1}}
  %0 = nn.concat %x, %y axis = 0 : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{has axis 1 on 2xf32 of rank 1}}
  %0 = nn.concat %x, %x axis = 1 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{fills with one element, got 2 in 2xf32}}
  %0 = nn.pad constant %x, %x low = [1] high = [0] : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{pads dimension 0 by -1 and 0, which must not be negative}}
  %0 = nn.pad constant %x, %v low = [-1] high = [0] : tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{pads dimension 0 by 2 elements in mode reflect, which takes 3 elements, and has 2}}
  %0 = nn.pad reflect %x, %v low = [2] high = [0] : tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @rejected(%x: tensor<0xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{pads dimension 0 by 1 elements in mode edge, which takes 1 elements, and has 0}}
  %0 = nn.pad edge %x, %v low = [1] high = [0] : tensor<0xf32>, tensor<f32>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{has axis 2 on 3x4xf32 of rank 2}}
  %0 = nn.gather %x, %i axis = 2 : tensor<3x4xf32>, tensor<2xi64>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be}}
  %0 = nn.gather %x, %i axis = 0 : tensor<3x4xf32>, tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x5xi64>) {
  // expected-error@+1 {{has indices 2x5xi64 into 3x4xf32 along axis 0; they must fit in the other dimensions}}
  %0 = nn.gather_elements %x, %i axis = 0 : tensor<3x4xf32>, tensor<2x5xi64>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error@+1 {{has index tuples of 3 for 2 dimensions of 3x4xf32}}
  %0 = nn.gather_nd %x, %i : tensor<3x4xf32>, tensor<2x3xi64>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{has 1 batch dimensions that differ in operand 3x4xf32 and indices 2x1xi64}}
  %0 = nn.gather_nd %x, %i {batch_dims = 1 : i64} : tensor<3x4xf32>, tensor<2x1xi64>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{has 2 batch dimensions on 3x4xf32 with indices 2x1xi64}}
  %0 = nn.gather_nd %x, %i {batch_dims = 2 : i64} : tensor<3x4xf32>, tensor<2x1xi64>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x4xi64>, %u: tensor<1x4xf32>) {
  // expected-error@+1 {{writes updates 1x4xf32 at indices 2x4xi64; their shapes must be equal}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 0 : tensor<3x4xf32>, tensor<2x4xi64>, tensor<1x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x5xf32>) {
  // expected-error@+1 {{writes updates 2x5xf32 where indices 2x1xi64 into 3x4xf32 take 2x4xf32}}
  %0 = nn.scatter_nd none %x, %i, %u : tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x5xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf64>) {
  // expected-error@+1 {{combines f32 of operand with f64 of updates}}
  %0 = nn.scatter_nd none %x, %i, %u : tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf64>
  return
}

// -----

func.func @rejected() {
  // expected-error@+1 {{has a result of uncountable shape 1152921504606846976x64xf32}}
  %0 = nn.iota axis = 0 : tensor<1152921504606846976x64xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x1xf32>) {
  // expected-error@+1 {{has a result of uncountable shape 1152921504606846976x64xf32}}
  %0 = nn.broadcast %x : tensor<1x1xf32> to tensor<1152921504606846976x64xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{pads dimension 0 by 4611686018427387904 and 0; 2^30 is the most}}
  %0 = nn.pad constant %x, %v low = [4611686018427387904] high = [0] : tensor<2xf32>, tensor<f32>
  return
}
