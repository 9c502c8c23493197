module {
func.func @main(%a: tensor<64x512xf32>, %b: tensor<64x1000xf32>) -> tensor<512x1000xf32> {
  %0 = nn.matmul %a, %b {transpose_lhs} : tensor<64x512xf32>, tensor<64x1000xf32>
  return %0 : tensor<512x1000xf32>
}
}
