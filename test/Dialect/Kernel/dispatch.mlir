// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @dispatch(
// CHECK: %{{.*}} = kernel.dispatch "relu" (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %{{.*}} = nn.relu %{{.*}} : tensor<4xf32>
// CHECK: kernel.yield %{{.*}} : tensor<4xf32>
func.func @dispatch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : tensor<4xf32>
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @yield(
// CHECK: %{{.*}} = kernel.dispatch "relu" (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %{{.*}} = nn.relu %{{.*}} : tensor<4xf32>
// CHECK: kernel.yield %{{.*}} : tensor<4xf32>
func.func @yield(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : tensor<4xf32>
    kernel.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK: attributes {tile = #kernel.register_tile<rows = 6, vectors = 2>}
func.func @contraction(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = kernel.dispatch "mm" (%a = %x : tensor<8x8xf32>) -> tensor<8x8xf32> attributes {tile = #kernel.register_tile<rows = 6, vectors = 2>} {
    %0 = nn.matmul %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
    kernel.yield %0 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

// CHECK: attributes {tile = #kernel.loop_tile<elements = 4096>}
func.func @loops(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %r = kernel.dispatch "relu" (%a = %x : tensor<8192xf32>) -> tensor<8192xf32> attributes {tile = #kernel.loop_tile<elements = 4096>} {
    %0 = nn.relu %a : tensor<8192xf32>
    kernel.yield %0 : tensor<8192xf32>
  }
  return %r : tensor<8192xf32>
}
