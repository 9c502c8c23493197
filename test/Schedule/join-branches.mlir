// Branches that do not depend on each other become one command, whose tiles threads take.
// RUN: %sprig-opt %s --split-input-file --sprig-join-branches="threads=2 architectures=x86-64-v3" --sprig-verify-order | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-join-branches="threads=1 architectures=x86-64-v3" | FileCheck %s --check-prefix=ALONE

exec.device @cpu "cpu"
exec.kernel @first(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 2000000 : i64, bytes = 128 : i64, scratch = 64 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @second(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 3000000 : i64, scratch = 256 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @join(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 1000 : i64} {
  exec.yield %x : tensor<16xf32>
}

// Two chains are two tiles; what reads both stays behind.
// CHECK: exec.kernel @chains_branches(%[[X:.*]]: memref<16xf32>, %[[A:.*]]: memref<16xf32>, %[[B:.*]]: memref<16xf32>, %[[C:.*]]: memref<16xf32>, %[[D:.*]]: memref<16xf32>)
// CHECK-SAME: attributes {bytes = 256 : i64, flops = 10000000 : i64, label = "chains_branches", scratch = 256 : i64, tiles = 2 : i64}
// CHECK-NEXT: exec.call @first(%[[X]], %[[A]]) : {{.*}}
// CHECK-NEXT: exec.call @second(%[[A]], %[[B]]) : {{.*}}
// CHECK-NEXT: exec.call @first(%[[X]], %[[C]]) in tiles 1 to 2
// CHECK-NEXT: exec.call @second(%[[C]], %[[D]]) in tiles 1 to 2
// CHECK-LABEL: exec.program @chains
// CHECK: exec.lane
// CHECK-NEXT: exec.dispatch @chains_branches({{.*}}) named "a and 3 more"
// CHECK-NEXT: exec.dispatch @join
// CHECK-NEXT: exec.copy
// ALONE-NOT: _branches
exec.program @chains inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena named "a" : memref<16xf32>
  %b = exec.buffer arena named "b" : memref<16xf32>
  %c = exec.buffer arena named "c" : memref<16xf32>
  %d = exec.buffer arena named "d" : memref<16xf32>
  %e = exec.buffer arena named "e" : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @first(%x, %a) named "a" : memref<16xf32>, memref<16xf32>
    exec.dispatch @second(%a, %b) named "b" : memref<16xf32>, memref<16xf32>
    exec.dispatch @first(%x, %c) named "c" : memref<16xf32>, memref<16xf32>
    exec.dispatch @second(%c, %d) named "d" : memref<16xf32>, memref<16xf32>
    exec.dispatch @join(%b, %d, %e) named "e" : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.copy %e to %y : memref<16xf32> to memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @one(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 2000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @wide(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 16 : i64, grain = 16 : i64, flops = 2000000 : i64} {
  exec.yield %x : tensor<16xf32>
}

// A command alone shares its tiles out: half of the work for two threads is half of four times two pieces.
// CHECK: exec.kernel @mixed_branches
// CHECK-NEXT: exec.call @one({{.*}}) : 
// CHECK-NEXT: exec.call @wide({{.*}}) in tiles 1 to 5
// What nothing else touches it may still write over.
// CHECK-LABEL: exec.program @mixed
// CHECK: exec.dispatch @mixed_branches(%[[P:.*]], %[[Y:.*]], %[[X:.*]], %[[Z:.*]]) named "one and 1 more" overwritable [#exec.overwrite<0 by 1>, #exec.overwrite<2 by 3>]
exec.program @mixed inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %p = exec.buffer arena : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @one(%p, %y) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
    exec.dispatch @wide(%x, %z) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @short(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @shared(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 16 : i64, grain = 1 : i64, flops = 2000000 : i64} {
  exec.yield %x : tensor<16xf32>
}

// A hand-off costs more than short commands take, and what fills the threads by itself gains nothing.
// CHECK-NOT: _branches
// CHECK-LABEL: exec.program @short_ones
exec.program @short_ones inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @short(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @short(%x, %z) : memref<16xf32>, memref<16xf32>
  }
}
// CHECK-LABEL: exec.program @full_ones
exec.program @full_ones inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @shared(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @shared(%x, %z) : memref<16xf32>, memref<16xf32>
  }
}

// -----

exec.device @cpu "cpu"
exec.kernel @one(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 2000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
exec.kernel @two(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 2000 : i64} {
  exec.yield %x : tensor<16xf32>
}

// Within a branch a command may write over what the ones before it gave, but not over what a later one reads.
// CHECK-LABEL: exec.program @in_place
// CHECK: %[[A:.*]] = exec.buffer arena named "a"
// CHECK: exec.dispatch @in_place_branches(%{{.*}}, %[[A]], %[[B:.*]], %[[C:.*]], %[[D:.*]], %[[E:.*]]) named "one and 4 more" overwritable [#exec.overwrite<1 by 2>] :
exec.program @in_place inputs("x": tensor<16xf32>) outputs("b": tensor<16xf32>, "e": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %a = exec.buffer arena named "a" : memref<16xf32>
  %b = exec.buffer output[0] : memref<16xf32>
  %c = exec.buffer arena named "c" : memref<16xf32>
  %d = exec.buffer arena named "d" : memref<16xf32>
  %e = exec.buffer output[1] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @one(%x, %a) : memref<16xf32>, memref<16xf32>
    exec.dispatch @one(%a, %b) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
    exec.dispatch @one(%x, %c) : memref<16xf32>, memref<16xf32>
    exec.dispatch @one(%c, %d) overwritable [#exec.overwrite<0 by 1>] : memref<16xf32>, memref<16xf32>
    exec.dispatch @two(%c, %d, %e) : memref<16xf32>, memref<16xf32>, memref<16xf32>
  }
}
