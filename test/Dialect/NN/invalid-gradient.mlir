// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<2x3xf32>) {
  %0 = nn.sin %x : tensor<2x3xf32>
  // expected-error@+1 {{has no seed, so it takes one output of one element, got 1 outputs, the first 2x3xf32}}
  %1 = nn.gradient %0 wrt %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1xf32>) {
  %0 = nn.sin %x : tensor<1xf32>
  // expected-error@+1 {{has no seed, so it takes one output of one element, got 2 outputs, the first 1xf32}}
  %1 = nn.gradient %0, %0 wrt %x : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %s: tensor<3xf32>) {
  %0 = nn.sin %x : tensor<2xf32>
  // expected-error@+1 {{has 3xf32 as number 0 of its cotangents where its outputs have 2xf32}}
  %1 = nn.gradient %0 seed %s wrt %x : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  %0 = nn.sin %x : tensor<2xf32>
  // expected-error@+1 {{has 2 cotangents for 1 outputs}}
  %1 = nn.gradient %0 seed %x, %x wrt %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  %0 = nn.sin %x : tensor<2xf32>
  // expected-error@+1 {{has 2xf64 as number 0 of its results where its targets have 2xf32}}
  %1 = nn.gradient %0 seed %x wrt %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2xi32>, %y: tensor<f32>) {
  // expected-error@+1 {{operand #1 must be variadic of statically shaped tensor of 64-bit float or 32-bit float or 16-bit float or bfloat16 type values, but got 'tensor<2xi32>'}}
  %1 = nn.gradient %y wrt %x : (tensor<f32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>, %v: tensor<3xf32>) {
  %0 = nn.sin %x : tensor<2xf32>
  // expected-error@+1 {{has 3xf32 as number 0 of its tangents where its targets have 2xf32}}
  %1 = nn.jvp %0 wrt %x along %v : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  %0 = nn.sin %x : tensor<2xf32>
  // expected-error@+1 {{has 2 results for 1 outputs}}
  %1:2 = nn.jvp %0 wrt %x along %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 3xf32 as number 0 of its arguments of body where its operands have 2xf32}}
  %0 = "nn.checkpoint"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    nn.yield %a : tensor<3xf32>
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 2xf32 as number 0 of its values that body yields where its results have 3xf32}}
  %0 = "nn.checkpoint"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    nn.yield %a : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 2 arguments of backward for 3 operands}}
  %0 = "nn.custom_gradient"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    nn.yield %a : tensor<2xf32>
  }, {
  ^bb0(%a: tensor<2xf32>, %g: tensor<2xf32>):
    nn.yield %g : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 0 values that backward yields for 1 operands}}
  %0 = "nn.custom_gradient"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    nn.yield %a : tensor<2xf32>
  }, {
  ^bb0(%a: tensor<2xf32>, %y: tensor<2xf32>, %g: tensor<2xf32>):
    nn.yield
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %g: tensor<1x3x5x4xf32>) {
  // expected-error@+1 {{has cotangent 1x3x5x4xf32 for a pool of 1x3x8x8xf32 that gives 1x3x4x4xf32}}
  %0 = nn.pool_grad max %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<1x3x5x4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3x8x8xf32>, %g: tensor<1x3x4x4xf64>) {
  // expected-error@+1 {{combines f32 of operand with f64 of cotangent}}
  %0 = nn.pool_grad sum %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x3x8x8xf32>, tensor<1x3x4x4xf64>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x8x8xf32>, %g: tensor<2x4x7x8xf32>) {
  // expected-error@+1 {{has cotangent 2x4x7x8xf32 for 2 samples of 8x8 windows}}
  %0 = nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x3x8x8xf32>, tensor<2x4x7x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x8x8xf32>, %g: tensor<2x4x8xf32>) {
  // expected-error@+1 {{has cotangent 2x4x8xf32 of rank 3 for input 2x3x8x8xf32 of rank 4}}
  %0 = nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x3x8x8xf32>, tensor<2x4x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x4x8x8xf32>, %g: tensor<2x3x8x8xf32>) {
  // expected-error@+1 {{3 output channels}}
  %0 = nn.conv_filter_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<2x4x8x8xf32>, tensor<2x3x8x8xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3x4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{4xf32}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64} : tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{rank}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has groups along "data" twice}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, groups = ["data", "data"]} : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has groups along no axis}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, groups = []} : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{attribute 'groups' failed to satisfy constraint: string array attribute}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, groups = [1]} : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<1x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has one value for each channel of 1x3xf32, which has no unbiased variance}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-5 : f64, unbiased} : tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has groups along "data" twice}}
  %0:3 = nn.batch_norm_train_grad %x, %c, %x {epsilon = 1.0e-5 : f64, groups = ["data", "data"]} : tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2x3xf32>, %c: tensor<3xf32>, %g: tensor<2x4xf32>) {
  // expected-error@+1 {{has cotangent 2x4xf32 for operand 2x3xf32}}
  %0:3 = nn.batch_norm_train_grad %x, %c, %g {epsilon = 1.0e-5 : f64} : tensor<2x3xf32>, tensor<3xf32>, tensor<2x4xf32>
  return
}
