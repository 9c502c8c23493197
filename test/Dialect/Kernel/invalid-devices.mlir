// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{has 'kernel.devices' = ["cpu:0"], expected names of several devices on a module}}
module attributes {kernel.devices = ["cpu:0"]} {
}

// -----

// expected-error@+1 {{has 'kernel.devices' = [0, 1], expected names of several devices on a module}}
module attributes {kernel.devices = [0, 1]} {
}

// -----

// expected-error@+1 {{has 'kernel.devices' = ["cpu:0", "cpu:1"], expected names of several devices on a module}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel.devices = ["cpu:0", "cpu:1"]} {
  return %x : tensor<4xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 'kernel.device' = 1 : i64, expected an i64 below the module's 1 device}}
  %0 = nn.relu %x {kernel.device = 1 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {kernel.devices = ["cpu:0", "cpu:1"]} {
  func.func @few(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{has 'kernel.device' = 2 : i64, expected an i64 below the module's 2 devices}}
    %0 = nn.relu %x {kernel.device = 2 : i64} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {kernel.devices = ["cpu:0", "cpu:1"]} {
  func.func @negative(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{has 'kernel.device' = -1 : i64, expected an i64 below the module's 2 devices}}
    %0 = nn.relu %x {kernel.device = -1 : i64} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {kernel.devices = ["cpu:0", "cpu:1"]} {
  func.func @name(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{has 'kernel.device' = "cpu:1", expected an i64 below the module's 2 devices}}
    %0 = nn.relu %x {kernel.device = "cpu:1"} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{has 'kernel.pieces' = 1 : i64, expected an i64 of at least 2 on a function or a program}}
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel.pieces = 1 : i64} {
  return %x : tensor<4xf32>
}

// -----

func.func @misplaced(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 'kernel.pieces' = 2 : i64, expected an i64 of at least 2 on a function or a program}}
  %0 = nn.relu %x {kernel.pieces = 2 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has 'kernel.in_order' = 1 : i64, expected a unit attribute on a function or a program}}
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel.in_order = 1 : i64} {
  return %x : tensor<4xf32>
}
