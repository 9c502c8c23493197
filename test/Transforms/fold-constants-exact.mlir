// RUN: sprig-opt %s --sprig-fold-constants=exact=true | FileCheck %s

// What kernels round as the type does folds; what they approximate, or add up in their own order, stays.
// CHECK-LABEL: @rounded_once
// CHECK-NOT: nn.add
// CHECK-NOT: nn.sqrt
// CHECK: return
func.func @rounded_once() -> tensor<2xf32> {
  %a = nn.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %b = nn.constant dense<[0.3, 0.7]> : tensor<2xf32>
  %0 = nn.add %a, %b : tensor<2xf32>, tensor<2xf32>
  %1 = nn.sqrt %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @approximated
// CHECK: nn.exp
// CHECK: nn.reduce
func.func @approximated() -> (tensor<2xf32>, tensor<f32>) {
  %a = nn.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %0 = nn.exp %a : tensor<2xf32>
  %1 = nn.reduce sum %a axes = [0] : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<f32>
}

// Half types are computed in f32 and rounded a second time; moving them rounds nothing.
// CHECK-LABEL: @half
// CHECK: nn.add
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @half() -> (tensor<2xbf16>, tensor<2x1xbf16>) {
  %a = nn.constant dense<[0.1, 0.2]> : tensor<2xbf16>
  %m = nn.constant dense<[[0.1, 0.2]]> : tensor<1x2xbf16>
  %0 = nn.add %a, %a : tensor<2xbf16>, tensor<2xbf16>
  %1 = nn.transpose %m [1, 0] : tensor<1x2xbf16>
  return %0, %1 : tensor<2xbf16>, tensor<2x1xbf16>
}
