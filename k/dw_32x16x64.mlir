module {
func.func @main(%a: tensor<32x64xf32>, %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %0 = nn.matmul %a, %b {transpose_lhs} : tensor<32x64xf32>, tensor<32x16xf32>
  return %0 : tensor<64x16xf32>
}
}
