// Lanes of a GPU are branches of one graph: a kernel takes a launch whatever it computes, and large ones have the whole device.
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=2 target=cuda architectures=sm_90" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=2 target=cuda architectures=sm_90" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two launches of 2.5 us, and one for both at once: small kernels pay, which on a processor would not.
exec.device @cuda "cuda"
exec.kernel @small(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 1 : i64, flops = 64 : i64} {
  exec.yield %x : tensor<64xf32>
}
// CHECK-LABEL: exec.program @branches
// CHECK: exec.lane on @cuda {
// CHECK-NEXT: exec.dispatch @small
// CHECK-NEXT: exec.dispatch @small
// CHECK-NEXT: }
// CHECK-NEXT: exec.lane on @cuda {
// CHECK-NEXT: exec.dispatch @small
// CHECK-NEXT: exec.dispatch @small
// CHECK-NEXT: }
// REMARK: program 'branches': 4 commands on 2 lanes with 0 events; 7.02 us, on one 10.05
exec.program @branches inputs("x": tensor<64xf32>) outputs("y": tensor<64xf32>, "z": tensor<64xf32>) {
  %x = exec.buffer input[0] : memref<64xf32>
  %a = exec.buffer arena : memref<64xf32>
  %b = exec.buffer arena : memref<64xf32>
  %y = exec.buffer output[0] : memref<64xf32>
  %z = exec.buffer output[1] : memref<64xf32>
  exec.lane on @cuda {
    exec.dispatch @small(%x, %a) : memref<64xf32>, memref<64xf32>
    exec.dispatch @small(%x, %b) : memref<64xf32>, memref<64xf32>
    exec.dispatch @small(%a, %y) : memref<64xf32>, memref<64xf32>
    exec.dispatch @small(%b, %z) : memref<64xf32>, memref<64xf32>
  }
}

// -----

// 134 GFLOP in 10000 tiles keep all multiprocessors busy: side by side they take as long.
exec.device @cuda "cuda"
exec.kernel @large(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 10000 : i64, flops = 134000000000 : i64} {
  exec.yield %x : tensor<64xf32>
}
// CHECK-LABEL: exec.program @full
// CHECK: exec.lane on @cuda {
// CHECK-NOT: exec.lane
// REMARK: program 'full': 2 commands stay on one lane, 6085.00 us; on 2 6060.61
exec.program @full inputs("x": tensor<64xf32>) outputs("y": tensor<64xf32>, "z": tensor<64xf32>) {
  %x = exec.buffer input[0] : memref<64xf32>
  %y = exec.buffer output[0] : memref<64xf32>
  %z = exec.buffer output[1] : memref<64xf32>
  exec.lane on @cuda {
    exec.dispatch @large(%x, %y) : memref<64xf32>, memref<64xf32>
    exec.dispatch @large(%x, %z) : memref<64xf32>, memref<64xf32>
  }
}

// -----

// The same work in 13 tiles leaves nine tenths of the device to others.
exec.device @cuda "cuda"
exec.kernel @few(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 13 : i64, flops = 134000000000 : i64} {
  exec.yield %x : tensor<64xf32>
}
// CHECK-LABEL: exec.program @part
// CHECK: exec.lane on @cuda {
// CHECK: exec.lane on @cuda {
exec.program @part inputs("x": tensor<64xf32>) outputs("y": tensor<64xf32>, "z": tensor<64xf32>) {
  %x = exec.buffer input[0] : memref<64xf32>
  %y = exec.buffer output[0] : memref<64xf32>
  %z = exec.buffer output[1] : memref<64xf32>
  exec.lane on @cuda {
    exec.dispatch @few(%x, %y) : memref<64xf32>, memref<64xf32>
    exec.dispatch @few(%x, %z) : memref<64xf32>, memref<64xf32>
  }
}
