module {
func.func @main(%a: tensor<16x256xf32>, %b: tensor<128x256xf32>) -> tensor<16x128xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<16x256xf32>, tensor<128x256xf32>
  return %0 : tensor<16x128xf32>
}
}
