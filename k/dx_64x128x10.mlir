module {
func.func @main(%a: tensor<64x10xf32>, %b: tensor<10x128xf32>) -> tensor<64x128xf32> {
  %0 = nn.matmul %a, %b  : tensor<64x10xf32>, tensor<10x128xf32>
  return %0 : tensor<64x128xf32>
}
}
