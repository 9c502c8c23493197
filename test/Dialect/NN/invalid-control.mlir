// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected(%q: tensor<4xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{chooses by 4xi1; expected a scalar of i1}}
  %0 = "nn.cond"(%q, %x) ({
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }) : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{binds 0 arguments of its else region to 1 operands}}
  %0 = "nn.cond"(%p, %x) ({
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }, {
    %1 = nn.constant dense<0.0> : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{binds argument 0 of its then region, of type 4xf64, to an operand of type 4xf32}}
  %0 = "nn.cond"(%p, %x) ({
  ^bb0(%a: tensor<4xf64>):
    %1 = nn.cast %a : tensor<4xf64> to tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has 1 results and yields 2 values in its else region}}
  %0 = nn.cond %p with (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    nn.yield %a : tensor<4xf32>
  } else {
    // expected-note@+1 {{yielded here}}
    nn.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has result 0 of type 4xf32 and yields i64 in its then region}}
  %0 = nn.cond %p with (%a = %x : tensor<4xf32>, %m = %n : tensor<i64>) -> tensor<4xf32> {
    // expected-note@+1 {{yielded here}}
    nn.yield %m : tensor<i64>
  } else {
    nn.yield %a : tensor<4xf32>
  }
  return
}

// -----

nn.param @w = dense<0.0> : tensor<4xf32>
func.func @rejected(%p: tensor<i1>) {
  // expected-error@+1 {{holds 'nn.get_param' in its then region, which takes state through operands}}
  %0 = nn.cond %p -> tensor<4xf32> {
    // expected-note@+1 {{this one}}
    %1 = nn.get_param @w : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } else {
    %1 = nn.constant dense<0.0> : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{runs at most 0 steps; expected at least 1}}
  %0 = nn.while max_steps = 0 carry (%s = %x : tensor<4xf32>) with (%q = %p : tensor<i1>) {
    nn.yield %q : tensor<i1>
  } do {
    nn.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{carries no values, so its condition would never change}}
  nn.while with (%q = %p : tensor<i1>) {
    nn.yield %q : tensor<i1>
  } do {
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has 0 results and carries 1 values}}
  "nn.while"(%x, %p) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%s: tensor<4xf32>, %q: tensor<i1>):
    nn.yield %q : tensor<i1>
  }, {
  ^bb0(%s: tensor<4xf32>, %q: tensor<i1>):
    nn.yield
  }) : (tensor<4xf32>, tensor<i1>) -> ()
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has result 0 of type 4xf64 for the value that starts as 4xf32}}
  %0 = "nn.while"(%x, %p) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%s: tensor<4xf32>, %q: tensor<i1>):
    nn.yield %q : tensor<i1>
  }, {
  ^bb0(%s: tensor<4xf32>, %q: tensor<i1>):
    nn.yield %s : tensor<4xf32>
  }) : (tensor<4xf32>, tensor<i1>) -> tensor<4xf64>
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{binds 1 arguments of its condition to 2 operands}}
  %0 = "nn.while"(%x, %p) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%s: tensor<4xf32>):
    %1 = nn.constant dense<true> : tensor<i1>
    nn.yield %1 : tensor<i1>
  }, {
  ^bb0(%s: tensor<4xf32>, %q: tensor<i1>):
    nn.yield %s : tensor<4xf32>
  }) : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has a condition that yields 4xf32; expected a scalar of i1}}
  %0 = nn.while carry (%s = %x : tensor<4xf32>) with (%q = %p : tensor<i1>) {
    // expected-note@+1 {{yielded here}}
    nn.yield %s : tensor<4xf32>
  } do {
    nn.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has a condition that yields 2 values; expected a scalar of i1}}
  %0 = nn.while carry (%s = %x : tensor<4xf32>) with (%q = %p : tensor<i1>) {
    // expected-note@+1 {{yielded here}}
    nn.yield %q, %q : tensor<i1>, tensor<i1>
  } do {
    nn.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has result 0 of type 4xf32 and yields i1 in its body}}
  %0 = nn.while carry (%s = %x : tensor<4xf32>) with (%q = %p : tensor<i1>) {
    nn.yield %q : tensor<i1>
  } do {
    // expected-note@+1 {{yielded here}}
    nn.yield %q : tensor<i1>
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{has 1 results and yields 0 values in its body}}
  %0 = nn.while carry (%s = %x : tensor<4xf32>) with (%q = %p : tensor<i1>) {
    nn.yield %q : tensor<i1>
  } do {
    // expected-note@+1 {{yielded here}}
    nn.yield
  }
  return
}

// -----

func.func @rejected(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = nn.cond %p -> tensor<4xf32> {
    // expected-error@+1 {{using value defined outside the region}}
    %1 = "nn.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } else {
    %1 = nn.constant dense<0.0> : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return
}
