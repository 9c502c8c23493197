// Work that one thread does, as what reads it runs on one.
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=25000 bytes-fetched-per-share=1024" | FileCheck %s
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=25000 bytes-fetched-per-share=65536" | FileCheck %s --check-prefix=QUICK
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=25000 bytes-fetched-per-share=1024" --remarks-filter=schedule --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<64x64xf32>
!m = memref<64x64xf32>

exec.device @cpu "cpu"
// A second thread would save 4.15 shares, and the steps would fetch half of the product, eight shares.
// CHECK: exec.kernel @product{{.*}} grain = 2 : i64
// QUICK: exec.kernel @product
// QUICK-NOT: grain
// QUICK-SAME: tiles = 2
// REMARK: 'product': 8.8 shares of work worth a thread, 2 of 2 tiles each, as its neighbours"
exec.kernel @product(%x: !t) -> !t attributes {tiles = 2 : i64, flops = 220000 : i64, ranges = [#exec.tile_range<0 : 0 + 8192 * tile, 8192>, #exec.tile_range<1 : 0 + 8192 * tile, 8192>]} {
  exec.yield %x : !t
}
// CHECK: exec.kernel @steps
// CHECK-SAME: tiles = 1
exec.kernel @steps(%x: !t) -> !t attributes {tiles = 1 : i64, flops = 900000 : i64} {
  exec.yield %x : !t
}
exec.program @main inputs("x": !t) outputs("y": !t) {
  %x = exec.buffer input[0] : !m
  %a = exec.buffer arena : !m
  %y = exec.buffer output[0] : !m
  exec.lane on @cpu {
    exec.dispatch @product(%x, %a) : !m, !m
    exec.dispatch @steps(%a, %y) : !m, !m
  }
}
