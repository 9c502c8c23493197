// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<4x8xf32>, %s: tensor<f16>, %z: tensor<ui8>) {
  // expected-error@+1 {{combines f32 of operand with f16 of scale}}
  %0 = nn.quantize %x, %s, %z : tensor<4x8xf32>, tensor<f16>, tensor<ui8>
  return
}

// -----

func.func @rejected(%x: tensor<4x8xf32>, %s: tensor<3xf32>, %z: tensor<ui8>) {
  // expected-error@+1 {{does not broadcast scale 3xf32 to 4x8xf32}}
  %0 = nn.quantize %x, %s, %z : tensor<4x8xf32>, tensor<3xf32>, tensor<ui8>
  return
}

// -----

func.func @rejected(%x: tensor<8xf32>, %s: tensor<f32>, %z: tensor<4x1xui8>) {
  // expected-error@+1 {{does not broadcast zero 4x1xui8 to 8xf32}}
  %0 = nn.quantize %x, %s, %z : tensor<8xf32>, tensor<f32>, tensor<4x1xui8>
  return
}

// -----

func.func @rejected(%x: tensor<8xi8>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error@+1 {{combines i8 of operand with ui8 of zero}}
  %0 = nn.dequantize %x, %s, %z : tensor<8xi8>, tensor<f32>, tensor<ui8>
  return
}

// -----

func.func @rejected(%x: tensor<8xi8>, %s: tensor<2x1xf32>, %z: tensor<i8>) {
  // expected-error@+1 {{does not broadcast scale 2x1xf32 to 8xi8}}
  %0 = nn.dequantize %x, %s, %z : tensor<8xi8>, tensor<2x1xf32>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<8xi8>, %s: tensor<f32>, %z: tensor<2x1xi8>) {
  // expected-error@+1 {{does not broadcast zero 2x1xi8 to 8xi8}}
  %0 = nn.dequantize %x, %s, %z : tensor<8xi8>, tensor<f32>, tensor<2x1xi8>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xui8>, %w: tensor<4x5xi8>, %a: tensor<ui8>, %b: tensor<i8>) {
  // expected-error@+1 {{contracts 3 columns of lhs with 4 rows of rhs (2x3xui8 and 4x5xi8)}}
  %0 = nn.matmul_integer %x, %w, %a, %b : tensor<2x3xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<3xui8>, %w: tensor<3x5xi8>, %a: tensor<ui8>, %b: tensor<i8>) {
  // expected-error@+1 {{takes lhs of rank 2 or more, got 3xui8 of rank 1}}
  %0 = nn.matmul_integer %x, %w, %a, %b : tensor<3xui8>, tensor<3x5xi8>, tensor<ui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<2x2x3xui8>, %w: tensor<3x3x5xi8>, %a: tensor<ui8>, %b: tensor<i8>) {
  // expected-error@+1 {{does not broadcast the leading dimensions of lhs 2x2x3xui8 with those of rhs 3x3x5xi8}}
  %0 = nn.matmul_integer %x, %w, %a, %b : tensor<2x2x3xui8>, tensor<3x3x5xi8>, tensor<ui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xui8>, %w: tensor<3x5xi8>, %a: tensor<2xui8>, %b: tensor<i8>) {
  // expected-error@+1 {{takes one lhs_zero or one for each place of dimension 0, got 2xui8 for 2x3xui8}}
  %0 = nn.matmul_integer %x, %w, %a, %b : tensor<2x3xui8>, tensor<3x5xi8>, tensor<2xui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xui8>, %w: tensor<3x5xi8>, %a: tensor<ui8>, %b: tensor<ui8>) {
  // expected-error@+1 {{combines ui8 of rhs_zero with i8 of rhs}}
  %0 = nn.matmul_integer %x, %w, %a, %b : tensor<2x3xui8>, tensor<3x5xi8>, tensor<ui8>, tensor<ui8>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xui8>, %w: tensor<16x3x3x3xi8>, %a: tensor<3x1x1xui8>, %b: tensor<i8>) {
  // expected-error@+1 {{takes one input_zero, got 3x1x1xui8 for 1x3x8x8xui8}}
  %0 = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8xui8>, tensor<16x3x3x3xi8>, tensor<3x1x1xui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xui8>, %w: tensor<16x2x3x3xi8>, %a: tensor<ui8>, %b: tensor<i8>) {
  // expected-error@+1 {{convolves 3 channels of input with 2 channels of filter}}
  %0 = nn.conv_integer %x, %w, %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8xui8>, tensor<16x2x3x3xi8>, tensor<ui8>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xi32>, %y: tensor<3x4xi32>) {
  // expected-error@+1 {{accumulates 2x3xi32 and 3x4xi32 in i32; an accumulator of its own is i32, of i8 and ui8, or f32, of bf16}}
  %0 = nn.matmul %x, %y {accumulator = i32} : tensor<2x3xi32>, tensor<3x4xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xi8>, %y: tensor<3x4xi8>) {
  // expected-error@+1 {{accumulates 2x3xi8 and 3x4xi8 in f32; an accumulator of its own is i32, of i8 and ui8, or f32, of bf16}}
  %0 = nn.matmul %x, %y {accumulator = f32} : tensor<2x3xi8>, tensor<3x4xi8>
  return
}

// -----

func.func @rejected(%x: tensor<8xf32>, %s: tensor<f16>, %z: tensor<i8>) {
  // expected-error@+1 {{combines f32 of operand with f16 of scale}}
  %0 = nn.fake_quantize %x, %s, %z : tensor<8xf32>, tensor<f16>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<8xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error@+1 {{clips to -7 to 7, expected two of the integers that zero ui8 may be, 0 to 255, in order}}
  %0 = nn.fake_quantize %x, %s, %z {low = -7 : i64, high = 7 : i64} : tensor<8xf32>, tensor<f32>, tensor<ui8>
  return
}

// -----

func.func @rejected(%x: tensor<8xf32>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{clips to 5 to 5, expected two of the integers that zero i8 may be, -128 to 127, in order}}
  %0 = nn.fake_quantize %x, %s, %z {low = 5 : i64, high = 5 : i64} : tensor<8xf32>, tensor<f32>, tensor<i8>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xbf16>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{accumulates 2x3xbf16 and 3x4xf32 in f32; an accumulator of its own is i32, of i8 and ui8, or f32, of bf16}}
  %0 = nn.matmul %x, %y {accumulator = f32} : tensor<2x3xbf16>, tensor<3x4xf32>
  return
}
