// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 1 results and yields 0 values}}
  %0 = kernel.dispatch (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{yielded here}}
    kernel.yield
  }
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{has result 0 of type 4xf32 and yields 4xi1}}
  %0 = kernel.dispatch (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.is_nan %a : tensor<4xf32>
    // expected-note@+1 {{yielded here}}
    kernel.yield %1 : tensor<4xi1>
  }
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{binds 0 arguments to 1 operands}}
  %0 = "kernel.dispatch"(%x) ({
    %1 = "nn.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    "kernel.yield"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{binds argument 0 of type 5xf32 to an operand of type 4xf32}}
  %0 = "kernel.dispatch"(%x) ({
  ^entry(%a: tensor<5xf32>):
    "kernel.yield"(%a) : (tensor<5xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// expected-error@+1 {{has 'kernel.tile', which kernel does not know; its attributes are kernel.devices, kernel.device}}
func.func @elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel.tile = #kernel.loop_tile<elements = 16>} {
  return %x : tensor<4xf32>
}

// -----

func.func @no_tile(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{attribute 'tile' failed to satisfy constraint: #kernel.register_tile or #kernel.loop_tile}}
  %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {tile = array<i64: 3, 1>} {
    %0 = nn.relu %a : tensor<4xf32>
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @no_dispatch(%x: tensor<4xf32>) {
  // expected-error@+1 {{'kernel.yield' op expects parent op 'kernel.dispatch'}}
  kernel.yield %x : tensor<4xf32>
}

// -----

func.func @end_of_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : tensor<4xf32>
    // expected-error@+1 {{'nn.yield' op expects parent op to be one of 'nn.scan, nn.cond, nn.while, nn.custom_gradient, nn.checkpoint'}}
    nn.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected at least one row and one vector in a register tile, found 0 and 2}}
#empty = #kernel.register_tile<rows = 0, vectors = 2>

// -----

// expected-error@+1 {{expected at least one element in a tile, found 0}}
#nothing = #kernel.loop_tile<elements = 0>
