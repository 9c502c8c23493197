module {
func.func @main(%a: tensor<64x84xf32>, %b: tensor<10x84xf32>) -> tensor<64x10xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<64x84xf32>, tensor<10x84xf32>
  return %0 : tensor<64x10xf32>
}
}
