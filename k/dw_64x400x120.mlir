module {
func.func @main(%a: tensor<64x120xf32>, %b: tensor<64x400xf32>) -> tensor<120x400xf32> {
  %0 = nn.matmul %a, %b {transpose_lhs} : tensor<64x120xf32>, tensor<64x400xf32>
  return %0 : tensor<120x400xf32>
}
}
