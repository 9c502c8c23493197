// RUN: %sprig-opt %s --sprig-overlap-collectives="latency=1e-5 rate=1e9 architectures=x86-64-v3 all" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --sprig-overlap-collectives="latency=1e-5 rate=1e9 architectures=x86-64-v3 all" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// With `all`, also where it is not expected to pay.
// REMARK: program 'always': 1 of 1 collectives have a lane of their own
// CHECK-LABEL: exec.program @always
// CHECK: exec.lane on @cpu {
// CHECK: exec.lane on @cpu {
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.program @always inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %a) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%a) : memref<4096xf32>
    exec.dispatch @work(%a, %y) : memref<4096xf32>, memref<4096xf32>
  }
}
