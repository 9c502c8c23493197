// Two commands that touch the same bytes, one of them writing, and that no lane and no event orders.
// RUN: %sprig-opt %s --split-input-file --sprig-verify-order --verify-diagnostics

exec.device @cpu "cpu"
exec.kernel @copy(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 4 : i64} {
  exec.yield %x : tensor<16xf32>
}
// In order: an event, over a third lane.
exec.program @ordered inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @copy(%x, %t) : memref<16xf32>, memref<16xf32>
    exec.record 0
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.record 7
  }
  exec.lane on @cpu {
    exec.wait 7
    exec.dispatch @copy(%t, %y) : memref<16xf32>, memref<16xf32>
  }
}

// -----

// A missing event: written and read.
exec.device @cpu "cpu"
exec.kernel @copy(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 4 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena named "hidden" : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    // expected-note@+1 {{'first' in lane 0 on @cpu writes them here}}
    exec.dispatch @copy(%x, %t) named "first" : memref<16xf32>, memref<16xf32>
  }
  exec.lane on @cpu {
    // expected-error@+1 {{'second' in lane 1 on @cpu reads bytes 0 to 64 of buffer 'hidden' on @cpu without an order to what lane 0 does with them}}
    exec.dispatch @copy(%t, %y) named "second" : memref<16xf32>, memref<16xf32>
  }
}

// -----

// The event is recorded before the write.
exec.device @cpu "cpu"
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.record 0
    // expected-note@+1 {{'copy' in lane 0 on @cpu writes them here}}
    exec.copy %x to %t : memref<16xf32> to memref<16xf32>
  }
  exec.lane on @cpu {
    exec.wait 0
    // expected-error@+1 {{reads bytes 0 to 64}}
    exec.copy %t to %y : memref<16xf32> to memref<16xf32>
  }
}

// -----

// Both write an output, in parts that overlap.
exec.device @cpu "cpu"
exec.program @main inputs("x": tensor<64xf32>) outputs("y": tensor<64xf32>) {
  %x = exec.buffer input[0] : memref<32xf32>
  %low = exec.buffer output[0] : memref<32xf32>
  %high = exec.buffer output[0] at 64 : memref<32xf32>
  exec.lane on @cpu {
    // expected-note@+1 {{writes them here}}
    exec.copy %x to %low : memref<32xf32> to memref<32xf32>
  }
  exec.lane on @cpu {
    // expected-error@+1 {{writes bytes 64 to 128 of output 0 on @cpu}}
    exec.copy %x to %high : memref<32xf32> to memref<32xf32>
  }
}

// -----

// A state is read and written.
exec.device @cpu "cpu"
nn.param @w = dense<0.0> : tensor<16xf32>
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %old = exec.buffer state @w : memref<16xf32>
  %new = exec.buffer state @w : memref<16xf32>
  exec.lane on @cpu {
    // expected-note@+1 {{reads them here}}
    exec.copy %old to %y : memref<16xf32> to memref<16xf32>
  }
  exec.lane on @cpu {
    // expected-error@+1 {{writes bytes 0 to 64 of state @w on @cpu}}
    exec.copy %x to %new : memref<16xf32> to memref<16xf32>
  }
}

// -----

// Buffers of two lanes share bytes of the arena, and nothing says who is first.
exec.device @cpu "cpu"
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) arena 64 {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena at 0 : memref<16xf32>
  %b = exec.buffer arena at 0 : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    // expected-note@+1 {{writes them here}}
    exec.copy %x to %a : memref<16xf32> to memref<16xf32>
    exec.copy %a to %y : memref<16xf32> to memref<16xf32>
  }
  exec.lane on @cpu {
    // expected-error@+1 {{writes bytes 0 to 64 of the arena on @cpu}}
    exec.copy %x to %b : memref<16xf32> to memref<16xf32>
    exec.copy %b to %z : memref<16xf32> to memref<16xf32>
  }
}

// -----

// What is copied to another device is read there before it has come.
exec.device @first "null"
exec.device @second "null" ordinal 1
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) arena 0, 64 {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena on @second at 0 : memref<16xf32>
  %y = exec.buffer output[0] on @second : memref<16xf32>
  exec.lane on @first {
    // expected-note@+1 {{'copy' in lane 0 on @first writes them here}}
    exec.copy %x to %t : memref<16xf32> to memref<16xf32>
    exec.record 0
  }
  exec.lane on @second {
    // expected-error@+1 {{'copy' in lane 1 on @second reads bytes 0 to 64 of the arena on @second}}
    exec.copy %t to %y : memref<16xf32> to memref<16xf32>
    exec.wait 0
  }
}

// -----

// The arenas of two devices are not the same bytes.
exec.device @first "null"
exec.device @second "null" ordinal 1
exec.program @main inputs("x": tensor<16xf32>) outputs() arena 64, 64 {
  %x = exec.buffer input[0] : memref<16xf32>
  %there = exec.buffer input[0] on @second : memref<16xf32>
  %a = exec.buffer arena at 0 : memref<16xf32>
  %b = exec.buffer arena on @second at 0 : memref<16xf32>
  exec.lane on @first {
    exec.copy %x to %a : memref<16xf32> to memref<16xf32>
  }
  exec.lane on @second {
    exec.copy %there to %b : memref<16xf32> to memref<16xf32>
  }
}

// -----

// Rows: each tile writes 16 bytes, and reads those with the row above and the one below. The first three rows wait for
// the first four, and no longer.
exec.device @cpu "cpu"
exec.kernel @rows(%x: tensor<8x4xf32>) -> tensor<8x4xf32>
    attributes {tiles = 8 : i64, ranges = [#exec.tile_range<0 : -16 + 16 * tile, 48>, #exec.tile_range<1 : 0 + 16 * tile, 16>]} {
  exec.yield %x : tensor<8x4xf32>
}
exec.program @main inputs("x": tensor<8x4xf32>) outputs("y": tensor<8x4xf32>) {
  %x = exec.buffer input[0] : memref<8x4xf32>
  %t = exec.buffer arena named "rows" : memref<8x4xf32>
  %y = exec.buffer output[0] : memref<8x4xf32>
  exec.lane on @cpu {
    exec.dispatch @rows(%x, %t) tiles 0 to 4 : memref<8x4xf32>, memref<8x4xf32>
    exec.record 0
    exec.dispatch @rows(%x, %t) tiles 4 to 8 : memref<8x4xf32>, memref<8x4xf32>
    exec.record 1
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.dispatch @rows(%t, %y) tiles 0 to 3 : memref<8x4xf32>, memref<8x4xf32>
    exec.wait 1
    exec.dispatch @rows(%t, %y) tiles 3 to 8 : memref<8x4xf32>, memref<8x4xf32>
  }
}
exec.program @early inputs("x": tensor<8x4xf32>) outputs("y": tensor<8x4xf32>) {
  %x = exec.buffer input[0] : memref<8x4xf32>
  %t = exec.buffer arena named "rows" : memref<8x4xf32>
  %y = exec.buffer output[0] : memref<8x4xf32>
  exec.lane on @cpu {
    exec.dispatch @rows(%x, %t) tiles 0 to 4 : memref<8x4xf32>, memref<8x4xf32>
    exec.record 0
    // expected-note@+1 {{'below' in lane 0 on @cpu writes them here}}
    exec.dispatch @rows(%x, %t) tiles 4 to 8 named "below" : memref<8x4xf32>, memref<8x4xf32>
  }
  exec.lane on @cpu {
    exec.wait 0
    // expected-error@+1 {{'one_row_more' in lane 1 on @cpu reads bytes 64 to 80 of buffer 'rows' on @cpu}}
    exec.dispatch @rows(%t, %y) tiles 0 to 4 named "one_row_more" : memref<8x4xf32>, memref<8x4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @main inputs() outputs() {
  exec.lane on @cpu {
    // expected-error@+1 {{waits for event 1, which no command can record before it}}
    exec.wait 1
    exec.record 0
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.record 1
  }
}

// -----

// All ranks come to their collectives in one order, whatever these touch.
exec.device @cpu "cpu"
exec.program @collectives inputs() outputs("y": tensor<16xf32>, "z": tensor<16xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    // expected-note@+1 {{'w1' in lane 0 meets other ranks, too}}
    exec.collective all_reduce sum (%y) named "w1" : memref<16xf32>
  }
  exec.lane on @cpu {
    // expected-error@+1 {{'w2' in lane 1 meets other ranks, without an order to what is in lane 0}}
    exec.collective all_reduce sum (%z) named "w2" : memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @collectives_in_order inputs() outputs("y": tensor<16xf32>, "z": tensor<16xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.collective all_reduce sum (%y) named "w1" : memref<16xf32>
    exec.record 0
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.collective all_reduce sum (%z) named "w2" : memref<16xf32>
  }
}
