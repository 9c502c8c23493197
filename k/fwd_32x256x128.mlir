module {
func.func @main(%a: tensor<32x256xf32>, %b: tensor<128x256xf32>) -> tensor<32x128xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<32x256xf32>, tensor<128x256xf32>
  return %0 : tensor<32x128xf32>
}
}
