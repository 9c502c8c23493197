// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @philox(
// CHECK: nn.philox %{{.*}}, %{{.*}}, %{{.*}} {stream = 1 : i64} : tensor<2x3xi64>, tensor<i64>, tensor<i64>
func.func @philox(%i: tensor<2x3xi64>, %k: tensor<i64>, %c: tensor<i64>) -> tensor<2x3xui32> {
  %r = nn.philox %i, %k, %c {stream = 1 : i64} : tensor<2x3xi64>, tensor<i64>, tensor<i64>
  return %r : tensor<2x3xui32>
}

// -----

// CHECK-LABEL: func.func @dropout(
// CHECK: nn.dropout %{{.*}}, %{{.*}}, %{{.*}} {ratio = 5.000000e-01 : f64, stream = 3 : i64} : tensor<2x3xf32>, tensor<i64>, tensor<i64>
func.func @dropout(%x: tensor<2x3xf32>, %k: tensor<i64>, %c: tensor<i64>) -> tensor<2x3xf32> {
  %r = nn.dropout %x, %k, %c {ratio = 0.5 : f64, stream = 3 : i64} : tensor<2x3xf32>, tensor<i64>, tensor<i64>
  return %r : tensor<2x3xf32>
}
