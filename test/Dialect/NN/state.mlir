// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK: nn.param @weight = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: nn.get_param @weight : tensor<2xf32>
nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @get_param() -> tensor<2xf32> {
  %r = nn.get_param @weight : tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// CHECK: nn.param @weight = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
