// RUN: %sprig-opt %s --sprig-choose-threads=flops-per-share=1000 | FileCheck %s
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=1000 threads=1" | FileCheck %s --check-prefix=ALONE
// RUN: %sprig-opt %s --sprig-choose-threads="flops-per-share=10 threads=2" | FileCheck %s --check-prefix=FINE

// Less than two shares: one thread.
// CHECK: exec.kernel @small{{.*}} grain = 64 : i64
exec.kernel @small(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 64 : i64, flops = 1900 : i64} {
  exec.yield %x : tensor<64xf32>
}
// Eight shares of 64 tiles; whoever is alone keeps them together, and two threads get 32 shares at most.
// CHECK: exec.kernel @large{{.*}} grain = 8 : i64
// ALONE: exec.kernel @large{{.*}} grain = 64 : i64
// FINE: exec.kernel @large{{.*}} grain = 2 : i64
exec.kernel @large(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 64 : i64, flops = 8000 : i64} {
  exec.yield %x : tensor<64xf32>
}
// Traffic counts, too: two shares of the default 524288 bytes.
// CHECK: exec.kernel @moves{{.*}} grain = 32 : i64
exec.kernel @moves(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 64 : i64, bytes = 1048576 : i64} {
  exec.yield %x : tensor<64xf32>
}
// As much of constants is twice as many shares: no processor writes them.
// CHECK: exec.kernel @reads{{.*}} grain = 16 : i64
exec.kernel @reads(%x: tensor<64xf32>, %c: tensor<262144xf32>) -> tensor<64xf32> attributes {tiles = 64 : i64, bytes = 1048576 : i64} {
  exec.yield %x : tensor<64xf32>
}
// Units of a quarter of a grain end where a cache line of the result does: rows of 40 bytes do so every eighth tile. But
// not where fewer threads than are worth it would have work.
// CHECK: exec.kernel @rows{{.*}} grain = 8 : i64
// FINE: exec.kernel @rows{{.*}} grain = 32 : i64
exec.kernel @rows(%x: tensor<64x10xf32>) -> tensor<64x10xf32> attributes {tiles = 64 : i64, flops = 8000 : i64, ranges = [#exec.tile_range<1 : 0 + 40 * tile, 40>]} {
  exec.yield %x : tensor<64x10xf32>
}
// CHECK: exec.kernel @many_rows{{.*}} grain = 32 : i64
exec.kernel @many_rows(%x: tensor<4096x10xf32>) -> tensor<4096x10xf32> attributes {tiles = 4096 : i64, flops = 200000 : i64, ranges = [#exec.tile_range<1 : 0 + 40 * tile, 40>]} {
  exec.yield %x : tensor<4096x10xf32>
}
exec.device @cpu "cpu"
exec.constant @weights = dense<1.0> : tensor<262144xf32>
exec.program @main inputs("x": tensor<64xf32>) outputs("y": tensor<64xf32>) {
  %x = exec.buffer input[0] : memref<64xf32>
  %c = exec.buffer constant @weights : memref<262144xf32>
  %y = exec.buffer output[0] : memref<64xf32>
  exec.lane on @cpu {
    exec.dispatch @reads(%x, %c, %y) : memref<64xf32>, memref<262144xf32>, memref<64xf32>
  }
}
