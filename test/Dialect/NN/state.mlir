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

// -----

// CHECK: nn.set_param @count, %{{.*}} : tensor<i64>
nn.param @count = dense<0> : tensor<i64>
func.func @set_param() {
  %old = nn.get_param @count : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64>
  %r = nn.add %old, %one : tensor<i64>, tensor<i64>
  nn.set_param @count, %r : tensor<i64>
  return
}
