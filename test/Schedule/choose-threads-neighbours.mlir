// Little work beside shared kernels.
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384" | FileCheck %s
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=1000000000" | FileCheck %s --check-prefix=QUICK
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384 threads=1" | FileCheck %s --check-prefix=ALONE
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=100000 bytes-fetched-per-share=16384" --remarks-filter=schedule --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// Where all that two threads would save is less than two shares, one thread does all: the program may then become one kernel.
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=205000 bytes-fetched-per-share=16384" --remarks-filter=schedule --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: 'rows': 2.0 shares of work worth a thread, 2 of 2 tiles each"
// NONE: 'anywhere': 0.6 shares of work worth a thread, 2 of 2 tiles each"
// NONE: 0 of 5 kernels are worth a second thread

!t = tensor<64x64xf32>
!m = memref<64x64xf32>

exec.device @cpu "cpu"
// CHECK: exec.kernel @rows
// CHECK-NOT: grain
// CHECK-SAME: tiles = 2
exec.kernel @rows(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 400000 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !t
}
// Four tenths of a share between shared kernels, and cut as they are, with a halo: no thread fetches the other one's
// half. Were that quick, half of the work would not be worth the hand-off.
// CHECK: exec.kernel @between
// CHECK-NOT: grain
// CHECK-SAME: tiles = 2
// QUICK: exec.kernel @between{{.*}} grain = 2 : i64
// ALONE: exec.kernel @between{{.*}} grain = 2 : i64
// REMARK: 'between': 0.4 shares of work worth a thread, 1 of 2 tiles each, as its neighbours
exec.kernel @between(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 40000 : i64, ranges = [#exec.tile_range<0 : -1024 + 8192 * tile, 10240>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !t
}
// Any tile may read all of it, so sharing fetches no less; but half of 1.2 shares is more than the hand-off.
// CHECK: exec.kernel @anywhere
// CHECK-NOT: grain
// CHECK-SAME: tiles = 2
exec.kernel @anywhere(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 120000 : i64} {
  exec.yield %x : !t
}
// The same with less work.
// CHECK: exec.kernel @little{{.*}} grain = 2 : i64
exec.kernel @little(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 40000 : i64} {
  exec.yield %x : !t
}
// As between, with nobody beside it that is shared.
// CHECK: exec.kernel @far{{.*}} grain = 2 : i64
// REMARK: 'far': 0.4 shares of work worth a thread, 2 of 2 tiles each"
exec.kernel @far(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 40000 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !t
}
exec.program @main inputs("x": !t) outputs("y": !t, "z": !t) {
  %x = exec.buffer input[0] : !m
  %a = exec.buffer arena : !m
  %b = exec.buffer arena : !m
  %c = exec.buffer arena : !m
  %d = exec.buffer arena : !m
  %y = exec.buffer output[0] : !m
  %z = exec.buffer output[1] : !m
  exec.lane on @cpu {
    exec.dispatch @rows(%x, %a) : !m, !m
    exec.dispatch @between(%a, %b) : !m, !m
    exec.dispatch @rows(%b, %c) : !m, !m
    exec.dispatch @anywhere(%c, %d) : !m, !m
    exec.dispatch @little(%c, %y) : !m, !m
    exec.dispatch @far(%x, %z) : !m, !m
  }
}
