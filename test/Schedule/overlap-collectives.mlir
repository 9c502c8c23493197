// RUN: %sprig-opt %s --split-input-file --sprig-overlap-collectives="latency=1e-5 rate=1e9 architectures=x86-64-v3" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-overlap-collectives="latency=1e-5 rate=1e9 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two buckets: the first travels while the second is made, the update of the first comes while the second travels.
// REMARK: program 'step': 2 of 2 collectives have a lane of their own
// CHECK-LABEL: exec.program @step
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[A:[a-z0-9]+]])
// CHECK-NEXT: exec.record [[MADE_A:[0-9]+]]
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[B:[a-z0-9]+]])
// CHECK-NEXT: exec.record [[MADE_B:[0-9]+]]
// CHECK-NEXT: exec.wait [[BACK_A:[0-9]+]]
// CHECK-NEXT: exec.dispatch @work(%[[A]], %{{.*}})
// CHECK-NEXT: exec.wait [[BACK_B:[0-9]+]]
// CHECK-NEXT: exec.dispatch @work(%[[B]], %{{.*}})
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.wait [[MADE_A]]
// CHECK-NEXT: exec.collective all_reduce sum(%[[A]])
// CHECK-NEXT: exec.record [[BACK_A]]
// CHECK-NEXT: exec.wait [[MADE_B]]
// CHECK-NEXT: exec.collective all_reduce sum(%[[B]])
// CHECK-NEXT: exec.record [[BACK_B]]
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.program @step inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>, "z": tensor<4096xf32>) attributes {ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer arena : memref<4096xf32>
  %b = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  %z = exec.buffer output[1] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %a) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%a) : memref<4096xf32>
    exec.dispatch @work(%x, %b) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%b) : memref<4096xf32>
    exec.dispatch @work(%a, %y) : memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%b, %z) : memref<4096xf32>, memref<4096xf32>
  }
}

// -----

// Nothing can go on meanwhile: it stays.
// REMARK: program 'loss': 0 of 1 collectives could have a lane of their own, and stay
// CHECK-LABEL: exec.program @loss
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.dispatch
// CHECK-NEXT: exec.collective all_reduce
// CHECK-NEXT: exec.dispatch
// CHECK-NOT: exec.lane
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.program @loss inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %a) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%a) : memref<4096xf32>
    exec.dispatch @work(%a, %y) : memref<4096xf32>, memref<4096xf32>
  }
}

// -----

// One that another collective needs stays where it is waited for; events keep all in one order.
// REMARK: program 'norm': 1 of 2 collectives have a lane of their own
// CHECK-LABEL: exec.program @norm
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[A:[a-z0-9]+]])
// CHECK-NEXT: exec.collective all_reduce sum(%[[A]])
// CHECK-NEXT: exec.dispatch @work(%[[A]], %[[B:[a-z0-9]+]])
// CHECK-NEXT: exec.record 0
// CHECK-NEXT: exec.dispatch
// CHECK-NEXT: exec.dispatch
// CHECK-NEXT: exec.wait 1
// CHECK-NEXT: exec.dispatch @work(%[[B]], %{{.*}})
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: exec.collective all_reduce sum(%[[B]])
// CHECK-NEXT: exec.record 1
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.program @norm inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>, "z": tensor<4096xf32>) attributes {ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer arena : memref<4096xf32>
  %b = exec.buffer arena : memref<4096xf32>
  %c = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  %z = exec.buffer output[1] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %a) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%a) : memref<4096xf32>
    exec.dispatch @work(%a, %b) : memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%b) : memref<4096xf32>
    exec.dispatch @work(%x, %c) : memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%c, %z) : memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%b, %y) : memref<4096xf32>, memref<4096xf32>
  }
}

// -----

// A part of a sum takes half of what a sum of as many bytes does, and so does a gather. Parts are added up while the next
// is made or updated, the first whole is gathered while the second part is updated; nothing goes beside the last gather.
// REMARK: program 'halves': 3 of 4 collectives have a lane of their own; {{.*}} of which 52.77 are collectives; beside the rest 13.19 of them
// CHECK-LABEL: exec.program @halves
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[A:[a-z0-9]+]])
// CHECK-NEXT: exec.record [[MADE_A:[0-9]+]]
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[B:[a-z0-9]+]])
// CHECK-NEXT: exec.record [[MADE_B:[0-9]+]]
// CHECK-NEXT: exec.wait [[BACK_A:[0-9]+]]
// CHECK-NEXT: exec.dispatch @part(%[[PA:[a-z0-9]+]], %[[UA:[a-z0-9]+]])
// CHECK-NEXT: exec.record [[UPDATED:[0-9]+]]
// CHECK-NEXT: exec.wait [[BACK_B:[0-9]+]]
// CHECK-NEXT: exec.dispatch @part(%[[PB:[a-z0-9]+]], %[[UB:[a-z0-9]+]])
// CHECK-NEXT: exec.wait [[WHOLE:[0-9]+]]
// CHECK-NEXT: exec.collective all_gather(%[[UB]])
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: exec.wait [[MADE_A]]
// CHECK-NEXT: exec.collective reduce_scatter sum(%[[A]]) to(%[[PA]])
// CHECK-NEXT: exec.record [[BACK_A]]
// CHECK-NEXT: exec.wait [[MADE_B]]
// CHECK-NEXT: exec.collective reduce_scatter sum(%[[B]]) to(%[[PB]])
// CHECK-NEXT: exec.record [[BACK_B]]
// CHECK-NEXT: exec.wait [[UPDATED]]
// CHECK-NEXT: exec.collective all_gather(%[[UA]])
// CHECK-NEXT: exec.record [[WHOLE]]
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.kernel @part(%x: tensor<2048xf32>) -> tensor<2048xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<2048xf32>
}
exec.program @halves inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>, "z": tensor<4096xf32>) attributes {ranks = 2 : i64} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer arena : memref<4096xf32>
  %b = exec.buffer arena : memref<4096xf32>
  %pa = exec.buffer arena : memref<2048xf32>
  %pb = exec.buffer arena : memref<2048xf32>
  %ua = exec.buffer arena : memref<2048xf32>
  %ub = exec.buffer arena : memref<2048xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  %z = exec.buffer output[1] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %a) : memref<4096xf32>, memref<4096xf32>
    exec.collective reduce_scatter sum (%a) to (%pa) : memref<4096xf32> to memref<2048xf32>
    exec.dispatch @work(%x, %b) : memref<4096xf32>, memref<4096xf32>
    exec.collective reduce_scatter sum (%b) to (%pb) : memref<4096xf32> to memref<2048xf32>
    exec.dispatch @part(%pa, %ua) : memref<2048xf32>, memref<2048xf32>
    exec.collective all_gather (%ua) to (%y) : memref<2048xf32> to memref<4096xf32>
    exec.dispatch @part(%pb, %ub) : memref<2048xf32>, memref<2048xf32>
    exec.collective all_gather (%ub) to (%z) : memref<2048xf32> to memref<4096xf32>
  }
}
