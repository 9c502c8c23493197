func.func @main(%a: tensor<16x16xf64>, %b: tensor<16x16xf64>) -> tensor<16x16xf64> {
  %c = nn.matmul %a, %b : tensor<16x16xf64>, tensor<16x16xf64>
  return %c : tensor<16x16xf64>
}
