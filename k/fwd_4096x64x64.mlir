module {
func.func @main(%a: tensor<4096x64xf32>, %b: tensor<64x64xf32>) -> tensor<4096x64xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<4096x64xf32>, tensor<64x64xf32>
  return %0 : tensor<4096x64xf32>
}
}
