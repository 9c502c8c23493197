module {
func.func @main(%a: tensor<32x256xf32>, %b: tensor<256x784xf32>) -> tensor<32x784xf32> {
  %0 = nn.matmul %a, %b  : tensor<32x256xf32>, tensor<256x784xf32>
  return %0 : tensor<32x784xf32>
}
}
