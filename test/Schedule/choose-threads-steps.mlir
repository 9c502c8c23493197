// A loop over time waits at each step for the lines that another thread wrote, where a stream of the same bytes waits once.
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=50000 bytes-fetched-per-share=8192 bytes-of-latency=1024" | FileCheck %s
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=50000 bytes-fetched-per-share=8192" | FileCheck %s --check-prefix=STREAM

!x = tensor<64x1x64xf32>
!m = memref<64x1x64xf32>
!s = tensor<1x64xf32>

exec.device @cpu "cpu"
// Half of the work, less the hand-off, saves 4.95 shares. The loop would fetch 8 KB, one share; with half of 64 steps of 1 KB more 5.
// CHECK: exec.kernel @awaited{{.*}} grain = 2 : i64
// STREAM: exec.kernel @awaited
// STREAM-NOT: grain
// STREAM-SAME: tiles = 2
exec.kernel @awaited(%x: !x) -> !x attributes {tiles = 2 : i64, flops = 520000 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !x
}
exec.kernel @loop(%x: !x, %h: !s) -> !s attributes {tiles = 1 : i64, flops = 900000 : i64} {
  %0 = kernel.dispatch "loop" (%a = %x : !x, %b = %h : !s) -> !s {
    %1 = nn.scan steps = 64 over (%t = %a : !x) carry (%c = %b : !s) -> (!s) {
      %2 = nn.add %t, %c : !s, !s
      nn.yield %2 : !s
    }
    kernel.yield %1 : !s
  }
  exec.yield %0 : !s
}
// The same for a kernel that reads all of it when it begins.
// CHECK: exec.kernel @streamed
// CHECK-NOT: grain
// CHECK-SAME: tiles = 2
exec.kernel @streamed(%x: !x) -> !x attributes {tiles = 2 : i64, flops = 520000 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !x
}
exec.kernel @whole(%x: !x) -> !x attributes {tiles = 1 : i64, flops = 900000 : i64} {
  exec.yield %x : !x
}
exec.program @main inputs("x": !x, "h": !s) outputs("y": !s, "z": !x) {
  %x = exec.buffer input[0] : !m
  %h = exec.buffer input[1] : memref<1x64xf32>
  %a = exec.buffer arena : !m
  %b = exec.buffer arena : !m
  %y = exec.buffer output[0] : memref<1x64xf32>
  %z = exec.buffer output[1] : !m
  exec.lane on @cpu {
    exec.dispatch @awaited(%x, %a) : !m, !m
    exec.dispatch @loop(%a, %h, %y) : !m, memref<1x64xf32>, memref<1x64xf32>
    exec.dispatch @streamed(%x, %b) : !m, !m
    exec.dispatch @whole(%b, %z) : !m, !m
  }
}
