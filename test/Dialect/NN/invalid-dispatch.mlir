// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 1 results and yields 0 values}}
  %0 = nn.dispatch (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-note@+1 {{yielded here}}
    nn.yield
  }
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{has result 0 of type 4xf32 and yields 4xi1}}
  %0 = nn.dispatch (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.is_nan %a : tensor<4xf32>
    // expected-note@+1 {{yielded here}}
    nn.yield %1 : tensor<4xi1>
  }
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{binds 0 arguments to 1 operands}}
  %0 = "nn.dispatch"(%x) ({
    %1 = "nn.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    "nn.yield"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%x: tensor<4xf32>) {
  // expected-error@+1 {{binds argument 0 of type 5xf32 to an operand of type 4xf32}}
  %0 = "nn.dispatch"(%x) ({
  ^entry(%a: tensor<5xf32>):
    "nn.yield"(%a) : (tensor<5xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
