// List scheduling over lanes: the longest way to the end comes first, and events stand where a lane needs another's bytes.
// RUN: %sprig-opt %s --sprig-assign-lanes="lanes=2 flops-per-second=1e9 bytes-per-second=1e12 hand-off=1e-6" --sprig-verify-order | FileCheck %s
// One lane, or hand-offs that cost more than the lanes win: as it was.
// RUN: %sprig-opt %s --sprig-assign-lanes="lanes=1" | FileCheck %s --check-prefix=ALONE
// RUN: %sprig-opt %s --sprig-assign-lanes="lanes=2 flops-per-second=1e9 bytes-per-second=1e12 hand-off=1e-2" | FileCheck %s --check-prefix=ALONE

exec.device @cpu "cpu"
exec.kernel @short(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @long(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 100000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @join(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000 : i64} {
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
  // CHECK-NEXT: exec.copy
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
