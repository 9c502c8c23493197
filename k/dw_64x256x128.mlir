module {
func.func @main(%a: tensor<64x128xf32>, %b: tensor<64x256xf32>) -> tensor<128x256xf32> {
  %0 = nn.matmul %a, %b {transpose_lhs} : tensor<64x128xf32>, tensor<64x256xf32>
  return %0 : tensor<128x256xf32>
}
}
