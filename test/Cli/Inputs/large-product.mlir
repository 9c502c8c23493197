// As many tiles of 128 by 128 as they are taken for, each of several slices.
func.func @main(%x: tensor<2048x64xf32>, %w: tensor<64x1024xf32>) -> tensor<2048x1024xf32> {
  %0 = nn.matmul %x, %w : tensor<2048x64xf32>, tensor<64x1024xf32>
  return %0 : tensor<2048x1024xf32>
}
