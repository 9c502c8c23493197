module {
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = nn.matmul %a, %b  : tensor<256x256xf32>, tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
}
