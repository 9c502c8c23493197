// RUN: %sprig-opt %s --split-input-file --sprig-repeat-programs="latency=1e-5 rate=1e8 architectures=x86-64-v3" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-repeat-programs="latency=1e-5 rate=1e8 architectures=x86-64-v3" --sprig-verify-order --sprig-overlap-collectives="latency=1e-5 rate=1e8 architectures=x86-64-v3" --sprig-verify-order --sprig-plan-memory --sprig-verify-order -o /dev/null
// RUN: %sprig-opt %s --split-input-file --sprig-repeat-programs="latency=1e-5 rate=1e8 architectures=x86-64-v3" --sprig-verify-order --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two steps in a call: states are written where the second one reads them, inputs and outputs are those of each. The
// gradient of the first layer, made last, goes first. The second step begins when the first layer is updated, before
// the last bucket of the first step is back and updated.
// REMARK: program 'step_repeated': 1 of {{[0-9]+}} commands begin before all of the repetition before them are done
// CHECK-COUNT-2: exec.kernel
// CHECK-NOT: exec.kernel
// CHECK-LABEL: exec.program @step inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64, samples_of_ranks = 8 : i64} {
// CHECK-LABEL: exec.program @step_repeated inputs("x.0": tensor<4096xf32>, "x.1": tensor<4096xf32>) outputs("y.0": tensor<4096xf32>, "y.1": tensor<4096xf32>) attributes {entry = "steps", ranks = 2 : i64, samples_of_ranks = 16 : i64}
// CHECK-DAG: %[[X0:[a-z0-9]+]] = exec.buffer input[0]
// CHECK-DAG: %[[X1:[a-z0-9]+]] = exec.buffer input[1]
// CHECK-DAG: %[[Y0:[a-z0-9]+]] = exec.buffer output[0]
// CHECK-DAG: %[[Y1:[a-z0-9]+]] = exec.buffer output[1]
// CHECK: exec.lane
// CHECK-NEXT: exec.dispatch @work(%[[X0]], %[[W1:[a-z0-9]+]], %{{.*}}) named "f1"
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[W2:[a-z0-9]+]], %[[Y0]]) named "f2"
// CHECK-NEXT: named "b2"
// CHECK-NEXT: named "d1"
// CHECK-NEXT: named "b1"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g1"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g2"
// CHECK-NEXT: exec.dispatch @update(%{{.*}}, %[[W1]], %{{.*}}) named "u1"
// CHECK-NEXT: exec.dispatch @work(%[[X1]], %[[W1]], %{{.*}}) named "f1"
// CHECK-NEXT: exec.dispatch @update(%{{.*}}, %[[W2]], %{{.*}}) named "u2"
// CHECK-NEXT: exec.dispatch @work(%{{.*}}, %[[W2]], %[[Y1]]) named "f2"
// CHECK-NEXT: named "b2"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g2"
// CHECK-NEXT: named "d1"
// CHECK-NEXT: named "b1"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g1"
// CHECK-NEXT: named "u2"
// CHECK-NEXT: named "u1"
// CHECK-NEXT: }
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>, %w: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.kernel @update(%g: tensor<4096xf32>, %w: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4096 : i64} {
  exec.yield %w : tensor<4096xf32>
}
nn.param @w1 = dense<0.0> : tensor<4096xf32>
nn.param @w2 = dense<0.0> : tensor<4096xf32>
exec.program @step inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64, samples_of_ranks = 8 : i64, nn.repeat = 2, nn.repeat_entry = "steps", nn.repeat_turn = 0} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %w1 = exec.buffer state @w1 : memref<4096xf32>
  %w2 = exec.buffer state @w2 : memref<4096xf32>
  %h1 = exec.buffer arena : memref<4096xf32>
  %h2 = exec.buffer arena : memref<4096xf32>
  %d1 = exec.buffer arena : memref<4096xf32>
  %g1 = exec.buffer arena : memref<4096xf32>
  %g2 = exec.buffer arena : memref<4096xf32>
  %n1 = exec.buffer arena : memref<4096xf32>
  %n2 = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %w1, %h1) named "f1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%h1, %w2, %h2) named "f2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%h2, %h1, %g2) named "b2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%g2) named "g2" : memref<4096xf32>
    exec.dispatch @work(%h2, %w2, %d1) named "d1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%d1, %x, %g1) named "b1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%g1) named "g1" : memref<4096xf32>
    exec.dispatch @update(%g2, %w2, %n2) named "u2" overwritable [#exec.overwrite<1 by 2>] : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @update(%g1, %w1, %n1) named "u1" overwritable [#exec.overwrite<1 by 2>] : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.copy %h2 to %y : memref<4096xf32> to memref<4096xf32>
    exec.copy %n2 to %w2 : memref<4096xf32> to memref<4096xf32>
    exec.copy %n1 to %w1 : memref<4096xf32> to memref<4096xf32>
  }
}

// -----

// As they come, where nothing turns.
// CHECK-LABEL: exec.program @step_repeated
// CHECK: exec.lane
// CHECK: named "b2"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g2"
// CHECK-NEXT: named "d1"
// CHECK-NEXT: named "b1"
// CHECK-NEXT: exec.collective all_reduce sum(%{{.*}}) named "g1"
// CHECK-NEXT: named "u2"
// CHECK-NEXT: named "u1"
// CHECK-NEXT: named "f1"
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>, %w: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
exec.kernel @update(%g: tensor<4096xf32>, %w: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4096 : i64} {
  exec.yield %w : tensor<4096xf32>
}
nn.param @w1 = dense<0.0> : tensor<4096xf32>
nn.param @w2 = dense<0.0> : tensor<4096xf32>
exec.program @step inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64, nn.repeat = 2, nn.repeat_entry = "steps"} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %w1 = exec.buffer state @w1 : memref<4096xf32>
  %w2 = exec.buffer state @w2 : memref<4096xf32>
  %h1 = exec.buffer arena : memref<4096xf32>
  %h2 = exec.buffer arena : memref<4096xf32>
  %d1 = exec.buffer arena : memref<4096xf32>
  %g1 = exec.buffer arena : memref<4096xf32>
  %g2 = exec.buffer arena : memref<4096xf32>
  %n1 = exec.buffer arena : memref<4096xf32>
  %n2 = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %w1, %h1) named "f1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%h1, %w2, %h2) named "f2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%h2, %h1, %g2) named "b2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%g2) named "g2" : memref<4096xf32>
    exec.dispatch @work(%h2, %w2, %d1) named "d1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%d1, %x, %g1) named "b1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%g1) named "g1" : memref<4096xf32>
    exec.dispatch @update(%g2, %w2, %n2) named "u2" overwritable [#exec.overwrite<1 by 2>] : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @update(%g1, %w1, %n1) named "u1" overwritable [#exec.overwrite<1 by 2>] : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.copy %h2 to %y : memref<4096xf32> to memref<4096xf32>
    exec.copy %n2 to %w2 : memref<4096xf32> to memref<4096xf32>
    exec.copy %n1 to %w1 : memref<4096xf32> to memref<4096xf32>
  }
}

// -----

// A collective that the next command waits for passes what it does not need, but for one that travels meanwhile: of the
// second step "norm" comes behind one of the first step's late ones, and before the other.
// CHECK-LABEL: exec.program @norms_repeated
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "norm"
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "a"
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "norm"
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "b"
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "a"
// CHECK: exec.collective all_reduce sum(%{{.*}}) named "b"
exec.device @cpu "cpu"
exec.kernel @work(%x: tensor<4096xf32>, %w: tensor<4096xf32>) -> tensor<4096xf32> attributes {tiles = 1 : i64, flops = 4000000 : i64} {
  exec.yield %x : tensor<4096xf32>
}
nn.param @a = dense<0.0> : tensor<4096xf32>
nn.param @b = dense<0.0> : tensor<4096xf32>
exec.program @norms inputs("x": tensor<4096xf32>) outputs("y": tensor<4096xf32>) attributes {ranks = 2 : i64, nn.repeat = 2, nn.repeat_entry = "steps"} {
  %x = exec.buffer input[0] : memref<4096xf32>
  %a = exec.buffer state @a : memref<4096xf32>
  %b = exec.buffer state @b : memref<4096xf32>
  %h = exec.buffer arena : memref<4096xf32>
  %s = exec.buffer arena : memref<4096xf32>
  %ga = exec.buffer arena : memref<4096xf32>
  %gb = exec.buffer arena : memref<4096xf32>
  %na = exec.buffer arena : memref<4096xf32>
  %nb = exec.buffer arena : memref<4096xf32>
  %y = exec.buffer output[0] : memref<4096xf32>
  exec.lane on @cpu {
    exec.dispatch @work(%x, %x, %s) named "sum" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%s) named "norm" : memref<4096xf32>
    exec.dispatch @work(%s, %a, %h) named "f1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%h, %b, %y) named "f2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%y, %a, %ga) named "b1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%ga) named "a" : memref<4096xf32>
    exec.dispatch @work(%y, %b, %gb) named "b2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.collective all_reduce sum (%gb) named "b" : memref<4096xf32>
    exec.dispatch @work(%ga, %a, %na) named "u1" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.dispatch @work(%gb, %b, %nb) named "u2" : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
    exec.copy %na to %a : memref<4096xf32> to memref<4096xf32>
    exec.copy %nb to %b : memref<4096xf32> to memref<4096xf32>
  }
}
