// RUN: %sprig-opt %s --sprig-plan-memory --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --sprig-plan-memory --split-input-file --remarks-filter=memory --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

exec.device @cpu "cpu"
exec.kernel @step(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64} {
  exec.yield %x : tensor<16xf32>
}

// In a chain every second buffer takes the place of one that nothing reads any more; the last one is the output.
// REMARK: program 'chain': arena of 128 bytes for 3 buffers; most alive at once 128, without sharing 192; 1 outputs written in place
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
