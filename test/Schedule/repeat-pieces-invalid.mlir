// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-repeat-pieces

exec.device @cpu "cpu"
// expected-error@+1 {{has pieces to be repeated, and its memory is not planned}}
exec.program @main inputs("x": tensor<2xf32>) outputs() attributes {kernel.pieces = 2 : i64} {
  %x = exec.buffer input[0] : memref<2xf32>
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{has pieces to be repeated, and 2 lanes, expected one}}
exec.program @main inputs("x": tensor<2xf32>) outputs() arena 0 attributes {kernel.pieces = 2 : i64} {
  %x = exec.buffer input[0] : memref<2xf32>
  exec.lane on @cpu {
  }
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
nn.param @p = dense<0.0> : tensor<2xf32>
// expected-error@+1 {{has pieces to be repeated, and state, which is of a whole call}}
exec.program @main inputs("x": tensor<2xf32>) outputs() arena 0 attributes {kernel.pieces = 2 : i64} {
  %x = exec.buffer input[0] : memref<2xf32>
  %p = exec.buffer state @p : memref<2xf32>
  exec.lane on @cpu {
    exec.copy %x to %p : memref<2xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tiles = 2 : i64} {
  exec.yield %x : tensor<2xf32>
}
exec.program @main inputs("x": tensor<2xf32>) outputs("y": tensor<2xf32>) arena 0 attributes {kernel.pieces = 2 : i64} {
  %x = exec.buffer input[0] : memref<2xf32>
  %y = exec.buffer output[0] : memref<2xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{is in a program whose pieces are to be repeated, expected all of one leaf kernel}}
    exec.dispatch @relu(%x, %y) tiles 0 to 1 : memref<2xf32>, memref<2xf32>
    exec.dispatch @relu(%x, %y) tiles 1 to 2 : memref<2xf32>, memref<2xf32>
  }
}
