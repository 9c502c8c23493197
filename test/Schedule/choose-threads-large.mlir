// What one of two threads fetches of large arrays comes as a stream, and what no near cache holds is no dearer to two.
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384" | FileCheck %s
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384 bytes-by-lines=1000000000 bytes-of-cache=1000000000" | FileCheck %s --check-prefix=LINES
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384 bytes-of-cache=1000000000" | FileCheck %s --check-prefix=STREAM

!t = tensor<2048x512xf32>
!m = memref<2048x512xf32>

exec.device @cpu "cpu"
// Two megabytes of the other thread's, for half of ninety shares of work: 128 shares by lines, 43 as a stream, 23 where
// a cache has one megabyte of them.
// CHECK: exec.kernel @first{{.*}} grain = 2 : i64
// LINES: exec.kernel @first{{.*}} grain = 64 : i64
// STREAM: exec.kernel @first{{.*}} grain = 64 : i64
exec.kernel @first(%x: !t) -> !t attributes {tiles = 64 : i64, flops = 3000000 : i64} {
  exec.yield %x : !t
}
// CHECK: exec.kernel @second
// CHECK-NOT: grain
// CHECK-SAME: tiles = 64
// LINES: exec.kernel @second{{.*}} grain = 64 : i64
// STREAM: exec.kernel @second{{.*}} grain = 64 : i64
exec.kernel @second(%x: !t) -> !t attributes {tiles = 64 : i64, flops = 6000000 : i64} {
  exec.yield %x : !t
}
exec.program @main inputs("x": !t) outputs("y": !t) {
  %x = exec.buffer input[0] : !m
  %a = exec.buffer arena : !m
  %y = exec.buffer output[0] : !m
  exec.lane on @cpu {
    exec.dispatch @first(%x, %a) : !m, !m
    exec.dispatch @second(%a, %y) : !m, !m
  }
}
