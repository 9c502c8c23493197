module {
func.func @main(%a: tensor<64x84xf32>, %b: tensor<84x120xf32>) -> tensor<64x120xf32> {
  %0 = nn.matmul %a, %b  : tensor<64x84xf32>, tensor<84x120xf32>
  return %0 : tensor<64x120xf32>
}
}
