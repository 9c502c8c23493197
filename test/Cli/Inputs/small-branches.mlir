// Two branches that are less than a launch: one kernel computes both.
func.func @main(%x: tensor<1x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %0 = nn.matmul %x, %v : tensor<1x8xf32>, tensor<8x8xf32>
  %1 = nn.matmul %x, %w : tensor<1x8xf32>, tensor<8x8xf32>
  %2 = nn.matmul %0, %w : tensor<1x8xf32>, tensor<8x8xf32>
  %3 = nn.add %1, %2 : tensor<1x8xf32>, tensor<1x8xf32>
  return %3 : tensor<1x8xf32>
}
