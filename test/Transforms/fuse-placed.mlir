// RUN: sprig-opt %s --sprig-fuse | FileCheck %s
// RUN: sprig-opt %s --sprig-fuse=fuse=false | FileCheck %s --check-prefix=APART

// No kernel runs on two devices, and each has the device of its operations.
// CHECK-LABEL: func.func @epilogue
// CHECK: kernel.dispatch "matmul_add" ({{.*}}) -> tensor<8x8xf32> {
// CHECK: kernel.dispatch "relu_neg" ({{.*}}) -> tensor<8x8xf32> attributes {kernel.device = 1 : i64} {
// CHECK-NEXT: nn.relu %{{[a-z0-9]*}} : tensor<8x8xf32>
// CHECK: kernel.dispatch "tanh" ({{.*}}) -> tensor<8x8xf32> {
// APART-LABEL: func.func @epilogue
// APART-COUNT-2: attributes {kernel.device = 1 : i64}
// APART-NOT: kernel.device
// APART-LABEL: func.func @reductions
// CHECK-LABEL: func.func @reductions
// CHECK-COUNT-2: kernel.dispatch "reduce"
// CHECK-LABEL: func.func @attention
// CHECK-NOT: kernel.dispatch "attention"
// CHECK: return
module attributes {kernel.devices = ["cpu:0", "cpu:1"]} {
  func.func @epilogue(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = nn.matmul %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
    %1 = nn.add %0, %x : tensor<8x8xf32>, tensor<8x8xf32>
    %2 = nn.relu %1 {kernel.device = 1 : i64} : tensor<8x8xf32>
    %3 = nn.neg %2 {kernel.device = 1 : i64} : tensor<8x8xf32>
    %4 = nn.tanh %3 : tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
  // Of one value, which would share a pass over it.
  func.func @reductions(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = nn.reduce sum %x axes = [1] : tensor<8x32xf32>
    %1 = nn.reduce max %x axes = [1] {kernel.device = 1 : i64} : tensor<8x32xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  func.func @attention(%q: tensor<16x64xf32>, %k: tensor<16x64xf32>, %v: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %t = nn.transpose %k [1, 0] : tensor<16x64xf32>
    %0 = nn.matmul %q, %t : tensor<16x64xf32>, tensor<64x16xf32>
    %1 = nn.reduce max %0 axes = [1] {keep_dims} : tensor<16x16xf32>
    %2 = nn.sub %0, %1 : tensor<16x16xf32>, tensor<16x1xf32>
    %3 = nn.exp %2 : tensor<16x16xf32>
    %4 = nn.reduce sum %3 axes = [1] {keep_dims} : tensor<16x16xf32>
    %5 = nn.div %3, %4 : tensor<16x16xf32>, tensor<16x1xf32>
    %6 = nn.matmul %5, %v {kernel.device = 1 : i64} : tensor<16x16xf32>, tensor<16x64xf32>
    return %6 : tensor<16x64xf32>
  }
}
