module {
func.func @main(%a: tensor<16x10xf32>, %b: tensor<10x128xf32>) -> tensor<16x128xf32> {
  %0 = nn.matmul %a, %b  : tensor<16x10xf32>, tensor<10x128xf32>
  return %0 : tensor<16x128xf32>
}
}
