// RUN: sprig-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{has a tile, which only nn.dispatch may have}}
func.func @elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kernel.tile = #kernel.loop_tile<elements = 16>} {
  return %x : tensor<4xf32>
}

// -----

func.func @another_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 'kernel.grain'; the dialect has 'kernel.tile' alone}}
  %r = nn.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {kernel.grain = 4} {
    %0 = nn.relu %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @no_tile(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected #kernel.register_tile or #kernel.loop_tile as tile, found array<i64: 3, 1>}}
  %r = nn.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {kernel.tile = array<i64: 3, 1>} {
    %0 = nn.relu %a : tensor<4xf32>
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
