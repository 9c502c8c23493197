func.func @main(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c = nn.matmul %a, %b : tensor<16x16xf32>, tensor<16x16xf32>
  return %c : tensor<16x16xf32>
}
