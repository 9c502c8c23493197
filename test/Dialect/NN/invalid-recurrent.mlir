// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{takes input of steps, batch and features, got 2x3xf32 of rank 2}}
  %0:3 = nn.lstm %q, %w, %r from %h, %c : tensor<2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{takes a recurrence of rank 2, got 7xf32 of rank 1}}
  %0:3 = nn.lstm %x, %w, %v from %h, %c : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<7xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{runs over no steps: input is 0x2x3xf32}}
  %0:3 = nn.lstm %e, %w, %r from %h, %c : tensor<0x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has weight 16x4xf32; with 4 hidden units and input 5x2x3xf32 it is 16x3xf32}}
  %0:3 = nn.lstm %x, %r, %r from %h, %c : tensor<5x2x3xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has weight 16x3xf32; with 4 hidden units and input 5x2x3xf32 it is 12x3xf32}}
  %0:2 = nn.gru %x, %w, %r from %h : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+2 {{has recurrence 16x4xf32; with 4 hidden units and input 5x2x3xf32 it is 4x4xf32}}
  %1 = nn.constant dense<0.0> : tensor<4x3xf32>
  %0:2 = nn.rnn %x, %1, %r from %h : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has initial_h 2x3xf32; with 4 hidden units and input 5x2x3xf32 it is 2x4xf32}}
  %0:3 = nn.lstm %x, %w, %r from %q, %c : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has initial_c 2x3xf32; with 4 hidden units}}
  %0:3 = nn.lstm %x, %w, %r from %h, %q : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{combines f32 of input with f64 of initial_c}}
  %0:3 = nn.lstm %x, %w, %r from %h, %d : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf64>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has bias 7xf32; with 4 hidden units and input 5x2x3xf32 it is 32xf32}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c bias %v : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has peephole 7xf32; with 4 hidden units and input 5x2x3xf32 it is 12xf32}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c peephole %v : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has lengths 3xi64 for 2 rows of input 5x2x3xf32}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c lengths %n : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3xi64>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has 2 activations; expected 3}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {activations = ["tanh", "tanh"]} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has the activation 'cosine', which is not known}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {activations = ["tanh", "cosine", "tanh"]} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has 1 alphas for 3 named activations}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {activations = ["tanh", "elu", "tanh"], alphas = array<f64: 1.0>} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{has 3 betas for 0 named activations}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {betas = array<f64: 1.0, 1.0, 1.0>} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %v: tensor<7xf32>, %n: tensor<3xi64>, %d: tensor<2x4xf64>, %e: tensor<0x2x3xf32>, %q: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a positive number}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {clip = -1.0 : f64} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{runs 0 steps; expected at least 1}}
  %0 = nn.scan steps = 0 carry (%s0 = %h : tensor<2xf32>) -> tensor<2xf32> {
    nn.yield %s0 : tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{runs 4 steps over input 0 of type 3x2xf32}}
  %0 = nn.scan steps = 4 over (%t = %x : tensor<3x2xf32>) carry (%s0 = %h : tensor<2xf32>) -> tensor<2xf32> {
    nn.yield %s0 : tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{steps over a tensor with a first dimension, got 'tensor<f32>'}}
  %0 = nn.scan steps = 4 over (%t = %s : tensor<f32>) carry (%s0 = %h : tensor<2xf32>) -> tensor<2xf32> {
    nn.yield %s0 : tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{has 2 results, carries 1 values and yields 1}}
  %0:2 = nn.scan steps = 3 carry (%s0 = %h : tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
    // expected-note@+1 {{yielded here}}
    nn.yield %s0 : tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{has result 1 of type 4x2xf32 and yields 2xf32 in each of 3 steps}}
  %0:2 = nn.scan steps = 3 carry (%s0 = %h : tensor<2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>) {
    // expected-note@+1 {{yielded here}}
    nn.yield %s0, %s0 : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{has result 0 of type 3x2xf32 and yields 2xf32 for the value that starts as 2xf32}}
  %0 = nn.scan steps = 3 carry (%s0 = %h : tensor<2xf32>) -> tensor<3x2xf32> {
    // expected-note@+1 {{yielded here}}
    nn.yield %s0 : tensor<2xf32>
  }
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{binds argument 0 of type 3x2xf32 to a slice of type 2xf32}}
  %0 = "nn.scan"(%x, %h) <{operandSegmentSizes = array<i32: 1, 1, 0>, steps = 3 : i64}> ({
  ^bb0(%a: tensor<3x2xf32>, %b: tensor<2xf32>):
    nn.yield %b : tensor<2xf32>
  }) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3x2xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{binds 1 arguments to 2 operands}}
  %0 = "nn.scan"(%x, %h) <{operandSegmentSizes = array<i32: 1, 1, 0>, steps = 3 : i64}> ({
  ^bb0(%a: tensor<2xf32>):
    nn.yield %a : tensor<2xf32>
  }) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) {
  // expected-error@+1 {{has gates in the blocks array<i64: 0, 3, 1, 1>; expected each number from 0 to 3 once}}
  %0:3 = nn.lstm %x, %w, %r from %h, %c {gate_blocks = array<i64: 0, 3, 1, 1>} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) {
  // expected-error@+1 {{has gates in the blocks array<i64: 1, 0>; expected each number from 0 to 2 once}}
  %0:2 = nn.gru %x, %w, %r from %h {gate_blocks = array<i64: 1, 0>} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) {
  // expected-error@+1 {{has its third gate in block 1, between the others; without linear_before_reset expected 0 or 2}}
  %0:2 = nn.gru %x, %w, %r from %h {gate_blocks = array<i64: 0, 2, 1>} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %u: tensor<ui8>, %v: tensor<3xf32>, %t: tensor<16x4xi8>, %p: tensor<16xf32>) {
  // expected-error@+1 {{has weight 4x16xi8; with 4 hidden units and input 5x2x3xf32 it is 3x16xi8}}
  %0:3 = nn.lstm_integer %x, %r, %r scales %s, %z, %s, %z from %h, %c : tensor<5x2x3xf32>, tensor<4x16xi8>, tensor<4x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %u: tensor<ui8>, %v: tensor<3xf32>, %t: tensor<16x4xi8>, %p: tensor<16xf32>) {
  // expected-error@+1 {{has weight 3x16xi8; with 16 hidden units and input 5x2x3xf32 it is 3x64xi8}}
  %0:3 = nn.lstm_integer %x, %w, %t scales %s, %z, %s, %z from %h, %c : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<16x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %u: tensor<ui8>, %v: tensor<3xf32>, %t: tensor<16x4xi8>, %p: tensor<16xf32>) {
  // expected-error@+1 {{has weight_scale 3xf32; expected one number or 16, one for each column of weight 3x16xi8}}
  %0:3 = nn.lstm_integer %x, %w, %r scales %v, %z, %s, %z from %h, %c : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<3xf32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %u: tensor<ui8>, %v: tensor<3xf32>, %t: tensor<16x4xi8>, %p: tensor<16xf32>) {
  // expected-error@+1 {{combines i8 of recurrence with ui8 of recurrence_zero}}
  %0:3 = nn.lstm_integer %x, %w, %r scales %s, %z, %s, %u from %h, %c : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %u: tensor<ui8>, %v: tensor<3xf32>, %t: tensor<16x4xi8>, %p: tensor<16xf32>) {
  // expected-error@+1 {{has peephole 16xf32; with 4 hidden units and input 5x2x3xf32 it is 12xf32}}
  %0:3 = nn.lstm_integer %x, %w, %r scales %s, %z, %s, %z from %h, %c peephole %p : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<16xf32>
  return
}
