// Maxima of bytes: whole registers of channels, then 16 of them, the last ones masked.
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: sprig-opt %s --sprig-emit-kernels=cpu=x86-64-v2 | FileCheck %s --check-prefixes=CHECK,NARROW

// CHECK-LABEL: func.func @kernel_0(
// WIDE: arith.maxui {{.*}} : vector<64xi8>
// NARROW-NOT: vector<64xi8>
// CHECK: arith.maxui {{.*}} : vector<16xi8>
// CHECK: vector.maskedload
// CHECK: arith.maxui {{.*}} : vector<16xi8>
// CHECK: vector.maskedstore
// CHECK: return
func.func @unsigned(%x: tensor<1x8x8x83xui8>) -> tensor<1x4x4x83xui8> {
  %r = kernel.dispatch "pool" (%a = %x : tensor<1x8x8x83xui8>) -> tensor<1x4x4x83xui8> {
    %0 = nn.pool max %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<1x8x8x83xui8>
    kernel.yield %0 : tensor<1x4x4x83xui8>
  }
  return %r : tensor<1x4x4x83xui8>
}

// Of a window in the padding alone: the lowest number.
// CHECK-LABEL: func.func @kernel_1(
// CHECK: arith.constant dense<-128> : vector<16xi8>
// CHECK: arith.maxsi {{.*}} : vector<16xi8>
// CHECK: return
func.func @signed(%x: tensor<1x8x8x16xi8>) -> tensor<1x5x5x16xi8> {
  %r = kernel.dispatch "pool" (%a = %x : tensor<1x8x8x16xi8>) -> tensor<1x5x5x16xi8> {
    %0 = nn.pool max %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 2, 2, 0, 0>, channels_last} : tensor<1x8x8x16xi8>
    kernel.yield %0 : tensor<1x5x5x16xi8>
  }
  return %r : tensor<1x5x5x16xi8>
}
