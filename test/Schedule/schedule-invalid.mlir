// RUN: %sprig-opt %s --sprig-schedule --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is in no dispatch, so it cannot be scheduled}}
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{is private or has no body; a program is made of public functions only}}
func.func private @helper(tensor<4xf32>)

// -----

// expected-error@+1 {{takes or gives 'index', expected tensors of static shape}}
func.func @main(%x: index) {
  return
}
