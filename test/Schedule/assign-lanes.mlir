// List scheduling over lanes: the longest way to the end comes first, and events stand where a lane needs another's bytes.
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=2 architectures=x86-64-v3" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=2 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=1 architectures=x86-64-v3" | FileCheck %s --check-prefix=ALONE

exec.device @cpu "cpu"
exec.kernel @short(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @long(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @join(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<16xf32>
}

// CHECK-LABEL: exec.program @diamond
// ALONE-LABEL: exec.program @diamond
exec.program @diamond inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena named "a" : memref<16xf32>
  %b = exec.buffer arena named "b" : memref<16xf32>
  %c = exec.buffer arena named "c" : memref<16xf32>
  %d = exec.buffer arena named "d" : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  // CHECK: exec.lane
  // CHECK-NEXT: exec.dispatch @short({{.*}}) named "a"
  // CHECK-NEXT: exec.record 0
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "c"
  // CHECK-NEXT: exec.wait 1
  // CHECK-NEXT: exec.dispatch @join({{.*}}) named "d"
  // CHECK-NEXT: }
  // CHECK-NEXT: exec.lane
  // CHECK-NEXT: exec.wait 0
  // CHECK-NEXT: exec.dispatch @short({{.*}}) named "b"
  // CHECK-NEXT: exec.record 1
  // CHECK-NEXT: }
  // ALONE: exec.lane
  // ALONE-NOT: exec.lane
  // ALONE-NOT: exec.record
  exec.lane on @cpu {
    exec.dispatch @short(%x, %a) named "a" : memref<16xf32>, memref<16xf32>
    exec.dispatch @short(%a, %b) named "b" : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%a, %c) named "c" : memref<16xf32>, memref<16xf32>
    exec.dispatch @join(%b, %c, %d) named "d" : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.copy %d to %y : memref<16xf32> to memref<16xf32>
  }
}

// A chain wins nothing.
// CHECK-LABEL: exec.program @chain
// ALONE-LABEL: exec.program @chain
exec.program @chain inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  // CHECK: exec.lane
  // CHECK-NOT: exec.lane
  // CHECK-NOT: exec.wait
  exec.lane on @cpu {
    exec.dispatch @long(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%a, %y) : memref<16xf32>, memref<16xf32>
  }
}

// Hand-offs cost more than lanes win.
// CHECK-LABEL: exec.program @small
exec.program @small inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  // CHECK: exec.lane
  // CHECK-NOT: exec.lane
  // CHECK-NOT: exec.wait
  exec.lane on @cpu {
    exec.copy %x to %a : memref<16xf32> to memref<16xf32>
    exec.copy %a to %y : memref<16xf32> to memref<16xf32>
    exec.copy %a to %z : memref<16xf32> to memref<16xf32>
  }
}

// -----

// Two devices: commands stay on theirs, on lanes of it; the copy between them costs what the link does, so that it begins
// before what it need not wait for.
exec.device @first "null"
exec.device @second "null" ordinal 1
exec.kernel @long(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {tiles = 1 : i64, flops = 10000000 : i64} {
  exec.yield %x : tensor<1024xf32>
}
exec.kernel @join(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<1024xf32>
}
// CHECK-LABEL: exec.program @two
exec.program @two inputs("x": tensor<1024xf32>) outputs("y": tensor<1024xf32>, "z": tensor<1024xf32>) {
  %x = exec.buffer input[0] : memref<1024xf32>
  %a = exec.buffer arena : memref<1024xf32>
  %b = exec.buffer arena : memref<1024xf32>
  %there = exec.buffer arena on @second : memref<1024xf32>
  %c = exec.buffer arena on @second : memref<1024xf32>
  %d = exec.buffer arena on @second : memref<1024xf32>
  %y = exec.buffer output[0] : memref<1024xf32>
  %z = exec.buffer output[1] on @second : memref<1024xf32>
  // CHECK: exec.lane on @first
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "a"
  // CHECK-NEXT: exec.record 1
  // CHECK-NEXT: exec.copy
  // CHECK-NEXT: exec.record 0
  // CHECK-NEXT: }
  // CHECK-NEXT: exec.lane on @first
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "b"
  // CHECK-NEXT: exec.wait 1
  // CHECK-NEXT: exec.dispatch @join({{.*}}) named "y"
  // CHECK-NEXT: }
  // CHECK-NEXT: exec.lane on @second
  // CHECK-NEXT: exec.wait 0
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "c"
  // CHECK-NEXT: exec.wait 2
  // CHECK-NEXT: exec.dispatch @join({{.*}}) named "z"
  // CHECK-NEXT: }
  // CHECK-NEXT: exec.lane on @second
  // CHECK-NEXT: exec.wait 0
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "d"
  // CHECK-NEXT: exec.record 2
  // CHECK-NEXT: }
  // ALONE-LABEL: exec.program @two
  // ALONE: exec.lane on @first
  // ALONE: exec.lane on @second
  // ALONE-NOT: exec.lane
  // ALONE: exec.program @given
  exec.lane on @first {
    exec.dispatch @long(%x, %a) named "a" : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @long(%x, %b) named "b" : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @join(%a, %b, %y) named "y" : memref<1024xf32>, memref<1024xf32>, memref<1024xf32>
    exec.copy %a to %there : memref<1024xf32> to memref<1024xf32>
    exec.record 5
  }
  exec.lane on @second {
    exec.wait 5
    exec.dispatch @long(%there, %c) named "c" : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @long(%there, %d) named "d" : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @join(%c, %d, %z) named "z" : memref<1024xf32>, memref<1024xf32>, memref<1024xf32>
  }
}

// -----

// A device that has several lanes was given them.
exec.device @cpu "cpu"
// CHECK-LABEL: exec.program @given
// CHECK-COUNT-2: exec.lane
// CHECK-NOT: exec.lane
exec.program @given inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.record 0
  }
  exec.lane on @cpu {
    exec.wait 0
    exec.copy %x to %y : memref<16xf32> to memref<16xf32>
  }
}

// -----

// A lane that has copies between devices alone stays as it is, beside the lanes that its device gets.
exec.device @first "null"
exec.device @second "null" ordinal 1
exec.kernel @long(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {tiles = 1 : i64, flops = 10000000 : i64} {
  exec.yield %x : tensor<1024xf32>
}
exec.kernel @join(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<1024xf32>
}
// CHECK-LABEL: exec.program @copies
exec.program @copies inputs("x": tensor<1024xf32>) outputs("z": tensor<1024xf32>) {
  %x = exec.buffer input[0] : memref<1024xf32>
  %a = exec.buffer arena : memref<1024xf32>
  %b = exec.buffer arena : memref<1024xf32>
  %athere = exec.buffer arena on @second : memref<1024xf32>
  %bthere = exec.buffer arena on @second : memref<1024xf32>
  %c = exec.buffer arena on @second : memref<1024xf32>
  %d = exec.buffer arena on @second : memref<1024xf32>
  %z = exec.buffer output[0] on @second : memref<1024xf32>
  // CHECK: exec.lane on @first
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "a"
  // CHECK: exec.lane on @first
  // CHECK-NEXT: exec.dispatch @long({{.*}}) named "b"
  // CHECK: exec.lane on @first
  // CHECK-NEXT: exec.wait 0
  // CHECK-NEXT: exec.copy
  // CHECK-NEXT: exec.record 2
  // CHECK-NEXT: exec.wait 1
  // CHECK-NEXT: exec.copy
  // CHECK-NEXT: exec.record 3
  // CHECK-NEXT: }
  // CHECK-NEXT: exec.lane on @second
  // CHECK-NEXT: exec.wait 2
  // CHECK: exec.lane on @second
  // CHECK-NEXT: exec.wait 3
  // CHECK-NOT: exec.lane
  exec.lane on @first {
    exec.dispatch @long(%x, %a) named "a" : memref<1024xf32>, memref<1024xf32>
    exec.record 0
    exec.dispatch @long(%x, %b) named "b" : memref<1024xf32>, memref<1024xf32>
    exec.record 1
  }
  exec.lane on @first {
    exec.wait 0
    exec.copy %a to %athere : memref<1024xf32> to memref<1024xf32>
    exec.record 2
    exec.wait 1
    exec.copy %b to %bthere : memref<1024xf32> to memref<1024xf32>
    exec.record 3
  }
  exec.lane on @second {
    exec.wait 2
    exec.dispatch @long(%athere, %c) named "c" : memref<1024xf32>, memref<1024xf32>
    exec.wait 3
    exec.dispatch @long(%bthere, %d) named "d" : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @join(%c, %d, %z) named "z" : memref<1024xf32>, memref<1024xf32>, memref<1024xf32>
  }
}

// -----

// Branches that need nothing of each other: a lane that the device would not have else costs its thread's hand-off, there
// and back.
exec.device @cpu "cpu"
exec.kernel @little(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 50000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @much(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 500000 : i64} {
  exec.yield %x : tensor<16xf32>
}
// CHECK-LABEL: exec.program @short
// CHECK-COUNT-1: exec.lane
// CHECK-NOT: exec.lane
// REMARK: program 'short': 2 commands stay on one lane, 1.60 us; on 2 2.30
exec.program @short inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @little(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @little(%x, %z) : memref<16xf32>, memref<16xf32>
  }
}
// CHECK-LABEL: exec.program @longer
// CHECK-COUNT-2: exec.lane
// CHECK-NOT: exec.lane
// REMARK: program 'longer': 2 commands on 2 lanes with 0 events; 9.40 us, on one 15.80
exec.program @longer inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @much(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @much(%x, %z) : memref<16xf32>, memref<16xf32>
  }
}

// -----

// What a lane reads of another one's comes from that one's cache: much of it takes what the lane wins.
exec.device @cpu "cpu"
exec.kernel @of_few(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @of_many(%x: tensor<65536xf32>) -> tensor<65536xf32> attributes {tiles = 1 : i64, flops = 1000000 : i64} {
  exec.yield %x : tensor<65536xf32>
}
// CHECK-LABEL: exec.program @few
// CHECK-COUNT-2: exec.lane
// REMARK: program 'few': 3 commands on 2 lanes with 1 events
exec.program @few inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @of_few(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @of_few(%a, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @of_few(%a, %z) : memref<16xf32>, memref<16xf32>
  }
}
// CHECK-LABEL: exec.program @many
// CHECK-COUNT-1: exec.lane
// CHECK-NOT: exec.lane
// REMARK: program 'many': 3 commands stay on one lane
exec.program @many inputs("x": tensor<65536xf32>) outputs("y": tensor<65536xf32>, "z": tensor<65536xf32>) {
  %x = exec.buffer input[0] : memref<65536xf32>
  %a = exec.buffer arena : memref<65536xf32>
  %y = exec.buffer output[0] : memref<65536xf32>
  %z = exec.buffer output[1] : memref<65536xf32>
  exec.lane on @cpu {
    exec.dispatch @of_many(%x, %a) : memref<65536xf32>, memref<65536xf32>
    exec.dispatch @of_many(%a, %y) : memref<65536xf32>, memref<65536xf32>
    exec.dispatch @of_many(%a, %z) : memref<65536xf32>, memref<65536xf32>
  }
}
