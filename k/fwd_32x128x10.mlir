module {
func.func @main(%a: tensor<32x128xf32>, %b: tensor<10x128xf32>) -> tensor<32x10xf32> {
  %0 = nn.matmul %a, %b {transpose_rhs} : tensor<32x128xf32>, tensor<10x128xf32>
  return %0 : tensor<32x10xf32>
}
}
