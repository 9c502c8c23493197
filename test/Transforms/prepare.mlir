// RUN: sprig-opt %s --sprig-pack="matrices=false ahead=true" --sprig-prepare --canonicalize --split-input-file | FileCheck %s

// What comes from parameters that nothing sets is computed by a function of its own; inputs and views stay.
// CHECK: nn.param @prepared_0 = dense<0.000000e+00> : tensor<4xf32>
// CHECK: nn.param @prepared = dense<0.000000e+00> : tensor<1x6x32xf32>
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[P:.*]] = nn.get_param @prepared : tensor<1x6x32xf32>
// CHECK-DAG: %[[S:.*]] = nn.get_param @prepared_0 : tensor<4xf32>
// CHECK-DAG: kernel.matmul_packed %arg0, %[[P]] {columns = 4 : i64}
// CHECK-NOT: kernel.pack
// CHECK-NOT: nn.rsqrt
// CHECK: return
// CHECK-LABEL: func.func @prepare() attributes {nn.entry = "prepare"}
// CHECK: kernel.pack {{.*}} {transposed}
// CHECK: nn.rsqrt
// CHECK: nn.set_param @prepared, {{.*}} : tensor<1x6x32xf32>
// CHECK: nn.set_param @prepared_0, {{.*}} : tensor<4xf32>
nn.param @weight = dense<1.0> : tensor<4x6xf32>
nn.param @variance = dense<1.0> : tensor<4xf32>
func.func @main(%x: tensor<5x6xf32>) -> tensor<5x4xf32> {
  %w = nn.get_param @weight : tensor<4x6xf32>
  %v = nn.get_param @variance : tensor<4xf32>
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<5x6xf32>, tensor<4x6xf32>
  %1 = nn.rsqrt %v : tensor<4xf32>
  %2 = nn.mul %0, %1 : tensor<5x4xf32>, tensor<4xf32>
  return %2 : tensor<5x4xf32>
}

// -----

// A parameter that is set is none of those, nor is a broadcast work.
// CHECK-LABEL: func.func @step
// CHECK: nn.matmul %arg0
// CHECK: nn.broadcast
// CHECK-NOT: func.func @prepare
nn.param @weight = dense<1.0> : tensor<6x6xf32>
nn.param @bias = dense<1.0> : tensor<6xf32>
func.func @step(%x: tensor<6x6xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %w = nn.get_param @weight : tensor<6x6xf32>
  %b = nn.get_param @bias : tensor<6xf32>
  %0 = nn.matmul %x, %w : tensor<6x6xf32>, tensor<6x6xf32>
  %1 = nn.broadcast %b : tensor<6xf32> to tensor<6x6xf32>
  nn.set_param @weight, %0 : tensor<6x6xf32>
  return %0, %1 : tensor<6x6xf32>, tensor<6x6xf32>
}
