// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @dispatch(
// CHECK: %{{.*}} = nn.dispatch "relu" (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %{{.*}} = nn.relu %{{.*}} : tensor<4xf32>
// CHECK: nn.yield %{{.*}} : tensor<4xf32>
func.func @dispatch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @yield(
// CHECK: %{{.*}} = nn.dispatch "relu" (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %{{.*}} = nn.relu %{{.*}} : tensor<4xf32>
// CHECK: nn.yield %{{.*}} : tensor<4xf32>
func.func @yield(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
