// RUN: sprig-opt %s --sprig-place="devices=cpu:0,cpu:1 pins=right=cpu:1,*/gate=cpu:1,right/proj=cpu:0 architectures=x86-64-v3 threads=2" \
// RUN:   --split-input-file | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: sprig-opt %s --sprig-place --split-input-file | FileCheck %s --check-prefixes=CHECK,ONE

// One device, no work.
// ONE-NOT: kernel.device

// Layers are where they are said to be, with all that is inside of them; of two patterns the longer counts. What follows
// in the same kernel goes along.
// CHECK-LABEL: func.func @pinned
// TWO: nn.matmul {{.*}} {kernel.device = 1 : i64}
// TWO-NEXT: nn.relu {{.*}} {kernel.device = 1 : i64}
// TWO-NEXT: nn.matmul %{{[^{]*}} : tensor
// TWO-NEXT: nn.matmul {{.*}} {kernel.device = 1 : i64}
// TWO-NEXT: nn.matmul {{.*}} {kernel.device = 1 : i64, nn.place = "cpu:1"}
// TWO-NEXT: nn.matmul {{.*}} {nn.place = "cpu"}
func.func @pinned(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = nn.matmul %x, %x : tensor<64x64xf32>, tensor<64x64xf32> loc("right/MatMul")
  %1 = nn.relu %0 : tensor<64x64xf32>
  %2 = nn.matmul %1, %x : tensor<64x64xf32>, tensor<64x64xf32> loc("right/proj/MatMul")
  %3 = nn.matmul %2, %x : tensor<64x64xf32>, tensor<64x64xf32> loc("head/gate/MatMul")
  %4 = nn.matmul %3, %x {nn.place = "cpu:1"} : tensor<64x64xf32>, tensor<64x64xf32>
  %5 = nn.matmul %1, %x {nn.place = "cpu"} : tensor<64x64xf32>, tensor<64x64xf32>
  return %4, %5 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Two branches of a millisecond each, over a value of 64 KB: the one is computed beside the other.
// CHECK-LABEL: func.func @branches
// TWO: nn.tanh %{{[^{]*}} : tensor
// TWO-COUNT-1: kernel.device = 1 : i64
// TWO: return
func.func @branches(%x: tensor<128x128xf32>, %a: tensor<128x16384xf32>, %b: tensor<128x16384xf32>) -> (tensor<128x16384xf32>, tensor<128x16384xf32>) {
  %0 = nn.tanh %x : tensor<128x128xf32>
  %1 = nn.matmul %0, %a : tensor<128x128xf32>, tensor<128x16384xf32>
  %2 = nn.matmul %0, %b : tensor<128x128xf32>, tensor<128x16384xf32>
  return %1, %2 : tensor<128x16384xf32>, tensor<128x16384xf32>
}

// -----

// The same with so little work that copies would cost more than they save, and a chain, which nothing can save.
// CHECK-LABEL: func.func @small
// TWO-NOT: kernel.device =
// TWO: return
func.func @small(%x: tensor<32x32xf32>, %a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = nn.tanh %x : tensor<32x32xf32>
  %1 = nn.matmul %0, %a : tensor<32x32xf32>, tensor<32x32xf32>
  %2 = nn.matmul %a, %0 : tensor<32x32xf32>, tensor<32x32xf32>
  %3 = nn.add %1, %2 : tensor<32x32xf32>, tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}

// -----

// CHECK-LABEL: func.func @chain
// TWO-NOT: kernel.device =
// TWO: return
func.func @chain(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = nn.matmul %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
  %1 = nn.matmul %0, %x : tensor<512x512xf32>, tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// -----

// A parameter lives where its new value is computed, else where it is read, or where it is said to.
// TWO: nn.param @updated {kernel.device = 1 : i64}
// TWO: nn.param @read {kernel.device = 1 : i64}
// TWO: nn.param @here =
// TWO: nn.param @said {kernel.device = 1 : i64, nn.place = "cpu:1"}
nn.param @updated = dense<1.0> : tensor<64xf32>
nn.param @read = dense<1.0> : tensor<64xf32>
nn.param @here = dense<1.0> : tensor<64xf32>
nn.param @said {nn.place = "cpu:1"} = dense<1.0> : tensor<64xf32>
// CHECK-LABEL: func.func @states
func.func @states() -> (tensor<64xf32>, tensor<64xf32>) {
  %updated = nn.get_param @updated : tensor<64xf32>
  %read = nn.get_param @read : tensor<64xf32>
  %here = nn.get_param @here : tensor<64xf32>
  %said = nn.get_param @said : tensor<64xf32>
  %0 = nn.add %updated, %here {nn.place = "cpu:0"} : tensor<64xf32>, tensor<64xf32>
  %1 = nn.add %0, %said {nn.place = "cpu:0"} : tensor<64xf32>, tensor<64xf32>
  %2 = nn.mul %updated, %read {nn.place = "cpu:1"} : tensor<64xf32>, tensor<64xf32>
  nn.set_param @updated, %2 : tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}
