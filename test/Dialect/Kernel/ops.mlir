// RUN: sprig-opt %s | sprig-opt | FileCheck %s

// CHECK: attributes {kernel.tile = #kernel.register_tile<rows = 6, vectors = 2>}
func.func @contraction(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = nn.dispatch "mm" (%a = %x : tensor<8x8xf32>) -> tensor<8x8xf32> attributes {kernel.tile = #kernel.register_tile<rows = 6, vectors = 2>} {
    %0 = nn.matmul %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
    nn.yield %0 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// CHECK: attributes {kernel.tile = #kernel.loop_tile<elements = 4096>}
func.func @loops(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %r = nn.dispatch "relu" (%a = %x : tensor<8192xf32>) -> tensor<8192xf32> attributes {kernel.tile = #kernel.loop_tile<elements = 4096>} {
    %0 = nn.relu %a : tensor<8192xf32>
    nn.yield %0 : tensor<8192xf32>
  }
  return %r : tensor<8192xf32>
}
