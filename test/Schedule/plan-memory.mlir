// RUN: %sprig-opt %s --sprig-plan-memory --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --sprig-plan-memory --split-input-file --remarks-filter=memory --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

exec.device @cpu "cpu"
exec.kernel @step(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<16xf32>
}

// In a chain every second buffer takes the place of one that nothing reads any more; the last one is the output.
// REMARK: program 'chain': arena of 128 bytes for 3 buffers; most alive at once 128, without sharing 192; 1 outputs and {{[0-9]+}} states written in place, 0 results over an operand
// CHECK: exec.program @chain {{.*}} arena 128
// CHECK: %[[X:.*]] = exec.buffer input[0]
// CHECK: %[[A:.*]] = exec.buffer arena at [[P:0|64]] : memref<16xf32>
// CHECK: %[[B:.*]] = exec.buffer arena at [[Q:0|64]] : memref<16xf32>
// CHECK: %[[C:.*]] = exec.buffer arena at [[P]] : memref<16xf32>
// CHECK: %[[Y:.*]] = exec.buffer output[0] named "y" : memref<16xf32>
// CHECK: exec.dispatch @step(%[[C]], %[[Y]])
// CHECK-NOT: exec.copy
exec.program @chain inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  %c = exec.buffer arena : memref<16xf32>
  %d = exec.buffer arena : memref<16xf32>
  %unused = exec.buffer arena : memref<1024xf32>
  %y = exec.buffer output[0] named "y" : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%a, %b) : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%b, %c) : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%c, %d) : memref<16xf32>, memref<16xf32>
    exec.copy %d to %y : memref<16xf32> to memref<16xf32>
  }
}

// One value as two outputs: the first is written in place, the second is a copy of it. An input as an output is a copy.
// CHECK: exec.program @outputs {{.*}} arena 0
// CHECK: %[[X:.*]] = exec.buffer input[0]
// CHECK: %[[Y0:.*]] = exec.buffer output[0]
// CHECK: %[[Y1:.*]] = exec.buffer output[1]
// CHECK: %[[Y2:.*]] = exec.buffer output[2]
// CHECK: exec.dispatch @step(%[[X]], %[[Y0]])
// CHECK-NEXT: exec.copy %[[Y0]] to %[[Y1]]
// CHECK-NEXT: exec.copy %[[X]] to %[[Y2]]
exec.program @outputs inputs("x": tensor<16xf32>) outputs("a": tensor<16xf32>, "b": tensor<16xf32>, "c": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %v = exec.buffer arena : memref<16xf32>
  %a = exec.buffer output[0] : memref<16xf32>
  %b = exec.buffer output[1] : memref<16xf32>
  %c = exec.buffer output[2] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %v) : memref<16xf32>, memref<16xf32>
    exec.copy %v to %a : memref<16xf32> to memref<16xf32>
    exec.copy %v to %b : memref<16xf32> to memref<16xf32>
    exec.copy %x to %c : memref<16xf32> to memref<16xf32>
  }
}

// What two lanes touch shares its bytes with nothing.
// CHECK: exec.program @lanes {{.*}} arena 192
exec.program @lanes inputs("x": tensor<16xf32>) outputs() {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  %c = exec.buffer arena : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.record 0
    exec.dispatch @step(%x, %b) : memref<16xf32>, memref<16xf32>
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.dispatch @step(%a, %c) : memref<16xf32>, memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @exchange(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {tiles = 1 : i64} {
  exec.yield %y, %x : tensor<16xf32>, tensor<16xf32>
}
exec.kernel @add(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @step(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<16xf32>
}

// A result takes the bytes of an operand that dies with the command, and so on down the chain.
// REMARK: program 'over': arena of 64 bytes for 1 buffers; most alive at once 64, without sharing 64; 0 outputs and {{[0-9]+}} states written in place, 2 results over an operand
// CHECK: exec.program @over {{.*}} arena 64
// CHECK: %[[A:.*]] = exec.buffer arena at 0
// CHECK-NOT: exec.buffer arena
// CHECK: exec.dispatch @add(%[[A]], %{{.*}}, %[[A]]) :
// CHECK: exec.dispatch @add(%[[A]], %{{.*}}, %[[A]]) :
exec.program @over inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  %c = exec.buffer arena : memref<4x4xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @add(%a, %x, %b) overwritable [#exec.overwrite<0 by 2>] : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.dispatch @add(%b, %x, %c) overwritable [#exec.overwrite<1 by 2>, #exec.overwrite<0 by 2>] : memref<16xf32>, memref<16xf32>, memref<4x4xf32>
    exec.dispatch @step(%c, %y) : memref<4x4xf32>, memref<16xf32>
  }
}

// Each result takes an operand of its own; a position that no buffer has counts for nothing.
// REMARK: program 'several': arena of 128 bytes for 2 buffers; {{.*}} 2 results over an operand
// CHECK: exec.program @several
// CHECK: exec.dispatch @exchange(%[[P:.*]], %[[Q:.*]], %[[P]], %[[Q]]) :
exec.program @several inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  %c = exec.buffer arena : memref<16xf32>
  %d = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%x, %b) : memref<16xf32>, memref<16xf32>
    exec.dispatch @exchange(%a, %b, %c, %d) overwritable [#exec.overwrite<0 by 2>, #exec.overwrite<0 by 3>, #exec.overwrite<1 by 2>, #exec.overwrite<1 by 3>] : memref<16xf32>, memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%c, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%d, %z) : memref<16xf32>, memref<16xf32>
  }
}

// Not over what is read later, what the command reads a second time, or an input.
// REMARK: program 'not_over': {{.*}} 0 results over an operand
// CHECK: exec.program @not_over
// CHECK-NOT: overwritable
exec.program @not_over inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  %c = exec.buffer arena : memref<16xf32>
  %d = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @step(%x, %a) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%a, %b) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
    exec.dispatch @add(%a, %b, %c) : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.dispatch @add(%c, %c, %d) overwritable [#exec.overwrite<0 by 2>, #exec.overwrite<1 by 2>] : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.dispatch @step(%d, %y) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
  }
}

// -----

// Each device has an arena; a copy between two devices stays.
exec.device @cpu "cpu"
exec.device @second "null" ordinal 1
// CHECK-LABEL: exec.program @devices
// CHECK-SAME: arena 64, 128
exec.program @devices inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  // CHECK: exec.buffer arena at 0
  %a = exec.buffer arena : memref<16xf32>
  // CHECK: exec.buffer arena on @second at
  %b = exec.buffer arena on @second : memref<16xf32>
  // CHECK: exec.buffer arena on @second at
  %c = exec.buffer arena on @second : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.copy %x to %a : memref<16xf32> to memref<16xf32>
    exec.copy %a to %b : memref<16xf32> to memref<16xf32>
    exec.record 0
  }
  exec.lane on @second {
    exec.wait 0
    exec.copy %b to %c : memref<16xf32> to memref<16xf32>
    // CHECK: exec.copy
    exec.copy %c to %y : memref<16xf32> to memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
// The first lane is done with %a before the second begins with %b; nothing orders %b and %c.
// CHECK-LABEL: exec.program @lanes
// CHECK-SAME: arena 128
exec.program @lanes inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>, "v": tensor<16xf32>) {
  %xs = exec.buffer input[0] at 0 : memref<8xf32>
  // CHECK: exec.buffer arena at 0 named "a"
  %a = exec.buffer arena named "a" : memref<8xf32>
  // CHECK: exec.buffer arena at [[B:[0-9]+]] named "b"
  %b = exec.buffer arena named "b" : memref<8xf32>
  // CHECK-NOT: exec.buffer arena at [[B]] named "c"
  %c = exec.buffer arena named "c" : memref<8xf32>
  %y = exec.buffer output[0] : memref<8xf32>
  %z = exec.buffer output[1] : memref<8xf32>
  %v = exec.buffer output[2] : memref<8xf32>
  exec.lane on @cpu {
    exec.copy %xs to %a : memref<8xf32> to memref<8xf32>
    exec.copy %a to %y : memref<8xf32> to memref<8xf32>
    exec.record 0
    exec.copy %xs to %c : memref<8xf32> to memref<8xf32>
    exec.copy %c to %v : memref<8xf32> to memref<8xf32>
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.copy %xs to %b : memref<8xf32> to memref<8xf32>
    exec.copy %b to %z : memref<8xf32> to memref<8xf32>
  }
}

// -----

// Of two devices: the state is read elsewhere, by a copy on a lane of its own, before it is computed anew in place.
// CHECK-LABEL: exec.program @updated
// CHECK: %[[NEW:.*]] = exec.buffer state @w named "w" : memref<4xf32>
// CHECK: exec.lane on @cpu0 {
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: exec.dispatch @add({{.*}}, %[[NEW]]) named "update"
// CHECK-NEXT: }
// The second writes its state before it was read elsewhere, as far as events say: the copy stays.
// CHECK-LABEL: exec.program @late
// CHECK: exec.dispatch @add({{.*}}) named "update"
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: exec.copy
exec.device @cpu0 "cpu"
exec.device @cpu1 "cpu" ordinal 1
nn.param @w = dense<1.0> : tensor<4xf32>
exec.kernel @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  exec.yield %a : tensor<4xf32>
}
exec.program @updated inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  %w = exec.buffer state @w : memref<4xf32>
  %there = exec.buffer arena on @cpu1 : memref<4xf32>
  %used = exec.buffer arena on @cpu1 : memref<4xf32>
  %new = exec.buffer arena named "new" : memref<4xf32>
  %set = exec.buffer state @w named "w" : memref<4xf32>
  exec.lane on @cpu0 {
    exec.wait 0
    exec.dispatch @add(%w, %x, %new) named "update" overwritable [#exec.overwrite<0 by 2>] : memref<4xf32>, memref<4xf32>, memref<4xf32>
    exec.copy %new to %set : memref<4xf32> to memref<4xf32>
  }
  exec.lane on @cpu1 {
    exec.wait 1
    exec.dispatch @add(%there, %there, %used) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  }
  exec.lane on @cpu0 {
    exec.copy %w to %there : memref<4xf32> to memref<4xf32>
    exec.record 0
    exec.record 1
  }
}
exec.program @late inputs("x": tensor<4xf32>) outputs() {
  %x = exec.buffer input[0] : memref<4xf32>
  %w = exec.buffer state @w : memref<4xf32>
  %there = exec.buffer arena on @cpu1 : memref<4xf32>
  %used = exec.buffer arena on @cpu1 : memref<4xf32>
  %new = exec.buffer arena named "new" : memref<4xf32>
  %set = exec.buffer state @w named "w" : memref<4xf32>
  exec.lane on @cpu0 {
    exec.dispatch @add(%w, %x, %new) named "update" overwritable [#exec.overwrite<0 by 2>] : memref<4xf32>, memref<4xf32>, memref<4xf32>
    exec.wait 0
    exec.copy %new to %set : memref<4xf32> to memref<4xf32>
  }
  exec.lane on @cpu1 {
    exec.wait 1
    exec.dispatch @add(%there, %there, %used) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  }
  exec.lane on @cpu0 {
    exec.copy %w to %there : memref<4xf32> to memref<4xf32>
    exec.record 0
    exec.record 1
  }
}
