// Programs that somebody changed by hand.
// RUN: %sprig-opt %s --split-input-file --sprig-verify-program --verify-diagnostics

// As the phases make it, in place too: nothing to say.
exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  %a = exec.buffer arena named "a" : memref<64x64xf32>
  exec.lane on @cpu {
    exec.dispatch @relu(%x, %a) : memref<64x64xf32>, memref<64x64xf32>
    exec.dispatch @relu(%a, %a) : memref<64x64xf32>, memref<64x64xf32>
    exec.dispatch @relu(%a, %y) : memref<64x64xf32>, memref<64x64xf32>
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{'exec.kernel' op has tiles 1, and its code has 2}}
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 1 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{'exec.kernel' op states other bytes for its tiles ('ranges') than its code touches}}
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 4096 * tile, 4096>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{'exec.kernel' op has scratch 0, and its code needs at least}}
exec.kernel @product(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64} {
  %0 = kernel.dispatch "product" (%a = %x : tensor<64x64xf32>, %b = %w : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.matmul %a, %b {transpose_rhs} : tensor<64x64xf32>, tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}

// -----

// Commands in the wrong order.
exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  %a = exec.buffer arena named "a" : memref<64x64xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{'exec.dispatch' op reads buffer 'a', which no command before it has written}}
    exec.dispatch @relu(%a, %y) : memref<64x64xf32>, memref<64x64xf32>
    exec.dispatch @relu(%x, %a) : memref<64x64xf32>, memref<64x64xf32>
  }
}

// -----

// What the output is to hold comes later.
exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  %a = exec.buffer arena named "a" : memref<64x64xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{'exec.copy' op reads output 0, which no command before it has written}}
    exec.copy %y to %a : memref<64x64xf32> to memref<64x64xf32>
    exec.dispatch @relu(%x, %y) : memref<64x64xf32>, memref<64x64xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
// expected-error@+1 {{'exec.program' op gives output 0 ("y"), which no command writes, or not all of it}}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  exec.lane on @cpu {
  }
}

// -----

// Each element of a transpose is read when others are written.
exec.device @cpu "cpu"
exec.kernel @turn(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 4 : i64, ranges = [#exec.tile_range<0 : 0 + 4096 * tile, 4096>]} {
  %0 = kernel.dispatch "turn" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.transpose %a [1, 0] : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  %a = exec.buffer arena named "a" : memref<64x64xf32>
  exec.lane on @cpu {
    exec.dispatch @turn(%x, %a) : memref<64x64xf32>, memref<64x64xf32>
    // expected-error@+1 {{'exec.dispatch' op writes buffer 'a' where buffer 'a' is, which its kernel reads or writes at the same time}}
    exec.dispatch @turn(%a, %a) : memref<64x64xf32>, memref<64x64xf32>
    exec.dispatch @turn(%a, %y) : memref<64x64xf32>, memref<64x64xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @relu(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = nn.relu %a : tensor<64x64xf32>
    kernel.yield %1 : tensor<64x64xf32>
  }
  exec.yield %0 : tensor<64x64xf32>
}
exec.program @main inputs("x": tensor<64x64xf32>) outputs("y": tensor<64x64xf32>) {
  %x = exec.buffer input[0] : memref<64x64xf32>
  %y = exec.buffer output[0] : memref<64x64xf32>
  // expected-error@+1 {{'exec.buffer' op has a place in an arena whose size its program does not state ('arena BYTES')}}
  %a = exec.buffer arena at 0 named "a" : memref<64x64xf32>
  exec.lane on @cpu {
    exec.dispatch @relu(%x, %a) : memref<64x64xf32>, memref<64x64xf32>
    exec.dispatch @relu(%a, %y) : memref<64x64xf32>, memref<64x64xf32>
  }
}
