module {
func.func @main(%a: tensor<2048x64xf32>, %b: tensor<256x64xf32>) -> tensor<2048x256xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<2048x64xf32>, tensor<256x64xf32>
  return %0 : tensor<2048x256xf32>
}
}
