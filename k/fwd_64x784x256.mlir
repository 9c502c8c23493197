module {
func.func @main(%a: tensor<64x784xf32>, %b: tensor<256x784xf32>) -> tensor<64x256xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<64x784xf32>, tensor<256x784xf32>
  return %0 : tensor<64x256xf32>
}
}
