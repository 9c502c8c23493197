// Transposes that move no element.
// RUN: %sprig-opt %s --sprig-reshape-transposes | FileCheck %s

// CHECK-LABEL: @one_sample
// CHECK: nn.reshape %{{.*}} : tensor<1x50x32xf32> to tensor<50x1x32xf32>
// CHECK-NOT: nn.transpose
func.func @one_sample(%x: tensor<1x50x32xf32>) -> tensor<50x1x32xf32> {
  %0 = nn.transpose %x [1, 0, 2] : tensor<1x50x32xf32>
  return %0 : tensor<50x1x32xf32>
}
// CHECK-LABEL: @two_samples
// CHECK: nn.transpose
func.func @two_samples(%x: tensor<2x50x32xf32>) -> tensor<50x2x32xf32> {
  %0 = nn.transpose %x [1, 0, 2] : tensor<2x50x32xf32>
  return %0 : tensor<50x2x32xf32>
}
// In the steps of a loop, too.
// CHECK-LABEL: @in_loop
// CHECK: nn.scan
// CHECK-NOT: nn.transpose
func.func @in_loop(%x: tensor<5x1x3xf32>, %h: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %0 = nn.scan steps = 5 over (%a = %x : tensor<5x1x3xf32>) carry (%b = %h : tensor<3x1xf32>) -> (tensor<3x1xf32>) {
    %1 = nn.transpose %a [1, 0] : tensor<1x3xf32>
    %2 = nn.add %b, %1 : tensor<3x1xf32>, tensor<3x1xf32>
    nn.yield %2 : tensor<3x1xf32>
  }
  return %0 : tensor<3x1xf32>
}
