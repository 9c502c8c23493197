// RUN: sprig-opt %s --sprig-fuse="target=cpu+cuda" --sprig-schedule="target=cpu+cuda" | FileCheck %s

// Equal dispatches on devices of two kinds are a kernel of each: with tiles of its own, in code of its own.
// CHECK-DAG: exec.device @cpu0 "cpu"
// CHECK-DAG: exec.device @cuda0 "cuda"
// CHECK: exec.kernel @[[HERE:matmul[_0-9]*]](
// CHECK-SAME: tiles = [[TILES:[0-9]+]] : i64
// CHECK: exec.kernel @[[THERE:matmul[_0-9]*]](
// CHECK-NOT: tiles = [[TILES]] : i64
// CHECK: exec.program @main
// CHECK: exec.lane on @cpu0
// CHECK: exec.dispatch @[[HERE]](
// CHECK: exec.dispatch @[[HERE]](
// CHECK: exec.lane on @cuda0
// CHECK: exec.dispatch @[[THERE]](
module attributes {kernel.devices = ["cpu:0", "cuda:0"]} {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> (tensor<256x64xf32>, tensor<256x64xf32>) {
    %0 = nn.matmul %x, %w : tensor<256x64xf32>, tensor<64x64xf32>
    %1 = nn.matmul %0, %w {kernel.device = 1 : i64} : tensor<256x64xf32>, tensor<64x64xf32>
    %2 = nn.matmul %0, %w : tensor<256x64xf32>, tensor<64x64xf32>
    return %1, %2 : tensor<256x64xf32>, tensor<256x64xf32>
  }
}
