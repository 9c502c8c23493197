module {
func.func @main(%a: tensor<4096x192xf32>, %b: tensor<4096x64xf32>) -> tensor<192x64xf32> {
  %0 = nn.matmul %a, %b {transpose_lhs} : tensor<4096x192xf32>, tensor<4096x64xf32>
  return %0 : tensor<192x64xf32>
}
}
