module {
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = nn.matmul %a, %b  : tensor<512x512xf32>, tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
}
