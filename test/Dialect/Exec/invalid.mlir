// Every constraint of the exec dialect, broken.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{has tiles -1, expected at least 0}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = -1 : i64} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has grain 0, expected at least 1}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, grain = 0 : i64} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has results ('tensor<2xf32>')}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<2xf32> attributes {tiles = 1 : i64} {
  // expected-note@+1 {{its body yields ('tensor<4xf32>')}}
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has a body that neither calls kernels nor ends in exec.yield}}
exec.kernel @k(%x: tensor<4xf32>) attributes {tiles = 1 : i64} {
}

// -----

// expected-error@+1 {{computes tensors, found 'memref<4xf32>'}}
exec.kernel @k(%x: memref<4xf32>) attributes {tiles = 1 : i64} {
  exec.yield
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
// expected-error@+1 {{has 2 tiles, and no call in tile 1}}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 2 : i64} {
  exec.call @leaf(%x, %y) : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
// expected-error@+1 {{has 1 tiles}}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64} {
  // expected-note@+1 {{a call is in those from 1 to 2}}
  exec.call @leaf(%x, %y) in tiles 1 to 2 : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 2 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 3 : i64} {
  // expected-error@+1 {{shares 2 tiles of @leaf out over 3}}
  exec.call @leaf(%x, %y) in tiles 0 to 3 : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 2 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {tiles = 2 : i64} {
  // expected-note@+1 {{the other call is here}}
  exec.call @leaf(%x, %y) in tiles 0 to 2 : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{touches what a call in other tiles touches, and one of the two writes}}
  exec.call @leaf(%y, %z) in tiles 0 to 2 : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @middle(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64} {
  exec.call @leaf(%x, %y) : memref<4xf32>, memref<4xf32>
}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64} {
  // expected-error@+1 {{calls @middle, which itself calls kernels}}
  exec.call @middle(%x, %y) : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
// expected-error@+1 {{mixes calls in each tile with calls in some}}
exec.kernel @k(%x: memref<2x4xf32>, %y: memref<2x4xf32>, %z: memref<4xf32>) attributes {tiles = 2 : i64} {
  %0 = exec.piece %x : memref<2x4xf32> to memref<4xf32>
  %1 = exec.piece %y : memref<2x4xf32> to memref<4xf32>
  exec.call @leaf(%0, %1) each tile : memref<4xf32>, memref<4xf32>
  // expected-note@+1 {{such as this}}
  exec.call @leaf(%0, %z) in tiles 1 to 2 : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
// expected-error@+1 {{mixes calls in each tile with calls in some}}
exec.kernel @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64} {
  // expected-note@+1 {{such as this}}
  %0 = exec.piece %x : memref<4xf32> to memref<4xf32>
  exec.call @leaf(%x, %y) : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {tiles = 2 : i64} {
  %0 = exec.piece %x : memref<2x4xf32> to memref<4xf32>
  // expected-error@+1 {{is 1x2xf32 of 2x4xf32, expected a part for each of 2 tiles}}
  %1 = exec.piece %y : memref<2x4xf32> to memref<1x2xf32>
  exec.call @leaf(%0, %1) each tile : memref<4xf32>, memref<1x2xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {scratch = 16 : i64, tiles = 2 : i64} {
  %0 = exec.scratch at 0 : memref<4xf32>
  // expected-error@+1 {{is a piece of what is no argument of its kernel}}
  %1 = exec.piece %0 : memref<4xf32> to memref<4xf32>
  exec.call @leaf(%1, %0) each tile : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<2x4xf32>) attributes {scratch = 64 : i64, tiles = 2 : i64} {
  %0 = exec.piece %x : memref<2x4xf32> to memref<4xf32>
  // expected-error@+1 {{is bytes 52 to 68 of the thread's, its kernel has 64}}
  %1 = exec.scratch at 52 : memref<4xf32>
  exec.call @leaf(%0, %1) each tile : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<2x4xf32>, %y: memref<4xf32>) attributes {tiles = 2 : i64} {
  %0 = exec.piece %x : memref<2x4xf32> to memref<4xf32>
  // expected-error@+1 {{is in each tile and writes a buffer that other tiles touch}}
  exec.call @leaf(%0, %y) each tile : memref<4xf32>, memref<4xf32>
}

// -----

exec.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.kernel @k(%x: memref<2x2xf32>, %y: memref<2x4xf32>) attributes {tiles = 2 : i64} {
  %0 = exec.piece %y : memref<2x4xf32> to memref<4xf32>
  // expected-error@+1 {{is in each tile and writes a buffer that other tiles touch}}
  exec.call @leaf(%x, %0) each tile : memref<2x2xf32>, memref<4xf32>
  exec.call @both(%y, %0) each tile : memref<2x4xf32>, memref<4xf32>
}
exec.kernel @both(%x: tensor<8xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  %0 = kernel.dispatch (%a = %x : tensor<8xf32>) -> tensor<4xf32> {
    %1 = nn.slice %a starts = [0] sizes = [4] steps = [1] : tensor<8xf32>
    kernel.yield %1 : tensor<4xf32>
  }
  exec.yield %0 : tensor<4xf32>
}

// -----

exec.kernel @k(%x: memref<4xf32>) attributes {tiles = 1 : i64} {
  // expected-error@+1 {{names @missing, which is no exec.kernel of the module}}
  exec.call @missing(%x) : memref<4xf32>
}

// -----

exec.device @cpu0 "cpu"
// expected-note@+1 {{kernel @k is here}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @main inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  exec.lane on @cpu0 {
    // expected-error@+1 {{passes 1 buffers to a kernel of 2}}
    exec.dispatch @k(%x) : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-note@+1 {{kernel @k is here}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<4xi32>) {
  %x = exec.buffer input[0] : memref<4xf32>
  %y = exec.buffer output[0] : memref<4xi32>
  exec.lane on @cpu0 {
    // expected-error@+1 {{passes 4xi32 as operand 1, the kernel has 4xf32}}
    exec.dispatch @k(%x, %y) : memref<4xf32>, memref<4xi32>
  }
}

// -----

exec.program @main inputs("x": tensor<4xf32>) outputs() {
  // expected-error@+1 {{names input 1 of a program with 1}}
  %x = exec.buffer input[1] : memref<4xf32>
}

// -----

exec.program @main inputs("x": tensor<4xf32>) outputs() {
  // expected-error@+1 {{ends at byte 32 of input 0, which has 16}}
  %x = exec.buffer input[0] : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() {
  // expected-error@+1 {{is of kind input and has no index}}
  %x = exec.buffer input : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() {
  // expected-error@+1 {{is of kind arena, which takes no source}}
  %x = exec.buffer arena @c : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() {
  // expected-error@+1 {{is at byte 32, expected a multiple of 64}}
  %x = exec.buffer arena at 32 : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() arena 64 {
  // expected-error@+1 {{ends at byte 96 of an arena of 64 bytes}}
  %x = exec.buffer arena at 64 : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() arena 64 {
  // expected-error@+1 {{has no offset in a program with an arena of 64 bytes}}
  %x = exec.buffer arena : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() {
  // expected-error@+1 {{names @c, which the module does not have}}
  %x = exec.buffer constant @c : memref<8xf32>
}

// -----

// expected-note@+1 {{it is here}}
exec.device @c "cpu"
exec.program @main inputs() outputs() {
  // expected-error@+1 {{is of kind constant, but @c is 'exec.device'}}
  %x = exec.buffer constant @c : memref<8xf32>
}

// -----

exec.constant @c = dense<1.0> : tensor<4xf32>
exec.program @main inputs() outputs() {
  // expected-error@+1 {{ends at byte 32 of @c, which has 16}}
  %x = exec.buffer constant @c : memref<8xf32>
}

// -----

exec.program @main inputs() outputs() {
  // expected-error@+1 {{runs on @gpu, which is no exec.device of the module}}
  exec.lane on @gpu {
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<8xf32>) {
  %x = exec.buffer input[0] : memref<4xf32>
  %y = exec.buffer output[0] : memref<8xf32>
  exec.lane on @cpu0 {
    // expected-error@+1 {{copies 16 bytes to a buffer of 32}}
    exec.copy %x to %y : memref<4xf32> to memref<8xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs() {
  exec.lane on @cpu0 {
    // expected-note@+1 {{it is recorded here first}}
    exec.record 3
    // expected-error@+1 {{records event 3 a second time}}
    exec.record 3
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs() {
  exec.lane on @cpu0 {
    // expected-error@+1 {{waits for event 1, which no lane records}}
    exec.wait 1
  }
}

// -----

// expected-error@+1 {{has input "x" of type tensor<?xf32>, expected a static tensor}}
exec.program @main inputs("x": tensor<?xf32>) outputs() {
}

// -----

// expected-error@+1 {{has an arena of -64 bytes, expected at least 0}}
exec.program @main inputs() outputs() arena -64 {
}

// -----

// expected-error@+1 {{'exec.kernel' op attribute 'grain' failed to satisfy constraint: 64-bit signless integer attribute}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, grain = i64} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'exec.kernel' op attribute 'label' failed to satisfy constraint: string attribute}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, label = 5} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'exec.program' op attribute 'independent_samples' failed to satisfy constraint: unit attribute}}
exec.program @main inputs() outputs() attributes {independent_samples = 1} {
}

// -----

// expected-error@+1 {{has ordinal -1, expected at least 0}}
exec.device @cpu "cpu" ordinal -1

// -----

// expected-note@+1 {{it is here first}}
exec.device @a "cpu" ordinal 1
// expected-error@+1 {{is cpu:1 a second time}}
exec.device @b "cpu" ordinal 1

// -----

exec.device @cpu "cpu"
exec.program @p inputs() outputs() {
  // expected-error@+1 {{lies on @gpu, which is no exec.device of the module}}
  %t = exec.buffer arena on @gpu : memref<4xf32>
}

// -----

exec.device @a "cpu"
exec.device @b "cpu" ordinal 1
exec.program @p inputs() outputs("y": tensor<4xf32>) {
  // expected-note@+1 {{another lies on @a}}
  %0 = exec.buffer output[0] : memref<4xf32>
  // expected-error@+1 {{lies on @b, expected all buffers of one output on one device}}
  %1 = exec.buffer output[0] on @b : memref<4xf32>
}

// -----

exec.device @a "cpu"
// expected-error@+1 {{has 2 arenas, expected at most one for each of 1 devices}}
exec.program @p inputs() outputs() arena 64, 64 {
}

// -----

exec.device @a "cpu"
exec.device @b "cpu" ordinal 1
exec.program @p inputs() outputs() arena 256, 64 {
  // expected-error@+1 {{ends at byte 128 of an arena of 64 bytes}}
  %t = exec.buffer arena on @b at 64 : memref<16xf32>
}

// -----

exec.device @a "cpu"
exec.device @b "cpu" ordinal 1
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  // expected-note@+1 {{the buffer is here}}
  %t = exec.buffer arena on @b : memref<4xf32>
  exec.lane on @a {
    // expected-error@+1 {{runs on @a and uses a buffer that is not there}}
    exec.dispatch @k(%x, %t) : memref<4xf32>, memref<4xf32>
  }
}

// -----

exec.device @a "cpu"
exec.device @b "cpu" ordinal 1
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  // expected-note@+1 {{the buffer is here}}
  %x = exec.buffer input[0] : memref<4xf32>
  %t = exec.buffer arena : memref<4xf32>
  exec.lane on @b {
    // expected-error@+1 {{runs on @b and uses a buffer that is not there}}
    exec.copy %x to %t : memref<4xf32> to memref<4xf32>
  }
}

// -----

exec.device @a "cpu"
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  // expected-note@+1 {{the buffer is here}}
  %x = exec.buffer input[0] : memref<4xf32>
  %t = exec.buffer arena : memref<4xf32>
  exec.lane on @a {
    // expected-error@+1 {{writes a buffer of kind input}}
    exec.dispatch @k(%t, %x) : memref<4xf32>, memref<4xf32>
  }
}

// -----

exec.device @a "cpu"
exec.constant @c = dense<1.0> : tensor<4xf32>
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  // expected-note@+1 {{the buffer is here}}
  %c = exec.buffer constant @c : memref<4xf32>
  exec.lane on @a {
    // expected-error@+1 {{writes a buffer of kind constant}}
    exec.copy %x to %c : memref<4xf32> to memref<4xf32>
  }
}

// -----

exec.device @a "cpu"
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 4 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  %t = exec.buffer arena : memref<4xf32>
  exec.lane on @a {
    // expected-error@+1 {{runs tiles 2 to 5 of a kernel of 4}}
    exec.dispatch @k(%x, %t) tiles 2 to 5 : memref<4xf32>, memref<4xf32>
  }
}

// -----

exec.device @a "cpu"
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 4 : i64} {
  exec.yield %x : tensor<4xf32>
}
exec.program @p inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  %t = exec.buffer arena : memref<4xf32>
  exec.lane on @a {
    // expected-error@+1 {{has #exec.overwrite<0 by 2>, expected two of 2 buffers}}
    exec.dispatch @k(%x, %t) overwritable [#exec.overwrite<0 by 2>] : memref<4xf32>, memref<4xf32>
  }
}

// -----

// expected-error@+1 {{has #exec.tile_range<2 : 0 + 16 * tile, 16>, expected one of 2 operands, a size of at least 0 and a range per 1 tile or more}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, ranges = [#exec.tile_range<2 : 0 + 16 * tile, 16>]} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has #exec.tile_range<0 : 0 + 16 * tile per 0, 16>, expected one of 2 operands}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, ranges = [#exec.tile_range<0 : 0 + 16 * tile per 0, 16>]} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has #exec.tile_range<0 : 0 + 8 * tile, 8> after one of operand 1, expected ranges in the order of operands}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<1 : 0 + 8 * tile, 8>, #exec.tile_range<0 : 0 + 8 * tile, 8>]} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has #exec.tile_range<0 : 0 + 8 * tile, 8>, by which tile 2 touches none of the 16 bytes}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 3 : i64, ranges = [#exec.tile_range<0 : 0 + 8 * tile, 8>]} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has #exec.tile_range<1 : 0 + 4 * tile, 4>, which leaves out bytes of a result of 16}}
exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 3 : i64, ranges = [#exec.tile_range<1 : 0 + 4 * tile, 4>]} {
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has #exec.tile_range<1 : 0 + 8 * tile, 4>, which leaves out bytes of a result of 12}}
exec.kernel @k(%x: tensor<3xf32>) -> tensor<3xf32> attributes {tiles = 2 : i64, ranges = [#exec.tile_range<1 : 0 + 8 * tile, 4>]} {
  exec.yield %x : tensor<3xf32>
}

// -----

// expected-error@+1 {{is of 0 ranks, expected 1 to 1048576}}
exec.program @none inputs() outputs() attributes {ranks = 0 : i64} {
}

// -----

// expected-error@+1 {{is of 4294967298 ranks, expected 1 to 1048576}}
exec.program @many inputs() outputs() attributes {ranks = 4294967298 : i64} {
}

// -----

// expected-error@+1 {{is of rank 2, expected one below 2}}
exec.program @rank inputs() outputs() attributes {ranks = 2 : i64, rank = 2 : i64} {
}

// -----

// expected-error@+1 {{has -1 samples of all ranks, expected at least 0}}
exec.program @samples inputs() outputs() attributes {ranks = 2 : i64, samples_of_ranks = -1 : i64} {
}

// -----

exec.device @cpu "cpu"
exec.program @alone inputs() outputs("y": tensor<4xf32>) {
  %y = exec.buffer output[0] : memref<4xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{is in a program of one rank}}
    exec.collective all_reduce sum (%y) : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @empty inputs() outputs() attributes {ranks = 2 : i64} {
  exec.lane on @cpu {
    // expected-error@+1 {{all_reduce of 0 buffers}}
    exec.collective all_reduce sum ()
  }
}

// -----

exec.device @cpu "cpu"
exec.program @types inputs() outputs("y": tensor<4xf32>, "z": tensor<4xi32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xi32>
  exec.lane on @cpu {
    // expected-error@+1 {{has buffers of 'f32' and of 'i32', expected one element type}}
    exec.collective all_reduce sum (%y, %z) : memref<4xf32>, memref<4xi32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @twice inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has a buffer twice}}
    exec.collective all_reduce sum (%y, %y) : memref<4xf32>, memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @input inputs("x": tensor<4xf32>) outputs() attributes {ranks = 2 : i64} {
  // expected-note@+1 {{the buffer is here}}
  %x = exec.buffer input[0] : memref<4xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{writes a buffer of kind input}}
    exec.collective all_reduce sum (%x) : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @mean inputs() outputs("y": tensor<4xi32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xi32>
  exec.lane on @cpu {
    // expected-error@+1 {{has a mean of 'i32', expected floats}}
    exec.collective all_reduce mean (%y) : memref<4xi32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @reduces inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{reduce_scatter without a reduction}}
    exec.collective reduce_scatter (%y) to (%t) : memref<4xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @moves inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{all_gather with a reduction}}
    exec.collective all_gather sum (%t) to (%y) : memref<2xf32> to memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @rooted inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{broadcast without a root}}
    exec.collective broadcast (%y) : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @rootless inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{all_reduce with a root}}
    exec.collective all_reduce sum (%y) root 1 : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @far inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has root 2 of 2 ranks}}
    exec.collective broadcast (%y) root 2 : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @pairs inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{all_gather of 1 buffers to 0, expected 1}}
    exec.collective all_gather (%t) : memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @place inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{all_reduce of 1 buffers to 1, expected 0}}
    exec.collective all_reduce sum (%y) to (%z) : memref<4xf32> to memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @stops inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{barrier of 1 buffers}}
    exec.collective barrier (%y) : memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @units inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 2 units for 1 tensors}}
    exec.collective part (%y) to (%t) units [1, 1] : memref<4xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @rows inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 4 elements of 4xf32 in rows of 3}}
    exec.collective part (%y) to (%t) units [3] : memref<4xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @parts inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 3xf32 beside 4xf32, expected 2 elements}}
    exec.collective all_gather (%u) to (%y) : memref<3xf32> to memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @uneven inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 3 rows of 3xf32, which 2 ranks do not share evenly, in a program that is not one rank's}}
    exec.collective part (%u) to (%t) : memref<3xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @exchange inputs() outputs("y": tensor<4xf32>, "z": tensor<4xf32>) attributes {rank = 0 : i64, ranks = 3 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %z = exec.buffer output[1] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  %u = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 4xf32 in rows of 1, for which rank 0 of 3 gets 6 elements, found 4xf32}}
    exec.collective all_to_all (%y) to (%z) : memref<4xf32> to memref<4xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.program @exchange inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<3xf32>
  exec.lane on @cpu {
    // expected-error@+1 {{has 3xf32 beside 4xf32, expected 4 elements}}
    exec.collective all_to_all (%t) to (%y) : memref<3xf32> to memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{is over ["model"] in a program without a mesh}}
    exec.collective all_reduce sum (%y) over ["model"] : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{expected an axis of ["data", "model"], found "rows"}}
    exec.collective all_reduce sum (%y) over ["rows"] : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{names the axis "data" twice}}
    exec.collective all_reduce sum (%y) over ["data", "data"] : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 4, 1>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{is over ["model"], along which there is one rank}}
    exec.collective all_reduce sum (%y) over ["model"] : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{has root 2 of 2 ranks}}
    exec.collective broadcast (%y) root 2 over ["model"] : memref<4xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    // expected-error @+1 {{has 2xf32 beside 4xf32, expected 1 elements}}
    exec.collective reduce_scatter sum (%y) to (%t) : memref<4xf32> to memref<2xf32>
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has a mesh of 1 axes and 0 sizes}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data"]} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has a mesh of no axes}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = [], mesh_sizes = array<i64>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has a mesh with two axes "a"}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["a", "a"], mesh_sizes = array<i64: 2, 2>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has an axis of 0 ranks, expected at least one}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["a", "b"], mesh_sizes = array<i64: 4, 0>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{is of 4 ranks, and its mesh of array<i64: 2, 3>}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["a", "b"], mesh_sizes = array<i64: 2, 3>} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has pieces and is no one rank's}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, output_pieces = [array<i64: 8, 0>]} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has pieces of 0 outputs, expected 1}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, rank = 0 : i64, output_pieces = []} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has 1 numbers for a piece of rank 1, output 0, expected two for each dimension}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, rank = 0 : i64, output_pieces = [array<i64: 8>]} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has a piece of more than 2^48 elements together as output 0}}
exec.program @main inputs() outputs("y": tensor<4x1xf32>) attributes {ranks = 2 : i64, rank = 0 : i64, output_pieces = [array<i64: 4294967296, 4294967296, 0, 0>]} {
  %y = exec.buffer output[0] : memref<4x1xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}

// -----

exec.device @cpu0 "cpu"
// expected-error @+1 {{has 4 from 5 on of a dimension of 8 as output 0}}
exec.program @main inputs() outputs("y": tensor<4xf32>) attributes {ranks = 2 : i64, rank = 0 : i64, output_pieces = [array<i64: 8, 5>]} {
  %y = exec.buffer output[0] : memref<4xf32>
  %t = exec.buffer arena : memref<2xf32>
  exec.lane on @cpu0 {
    exec.collective barrier ()
  }
}
