module {
func.func @main(%a: tensor<32x4xf32>, %b: tensor<4x64xf32>) -> tensor<32x64xf32> {
  %0 = nn.matmul %a, %b  : tensor<32x4xf32>, tensor<4x64xf32>
  return %0 : tensor<32x64xf32>
}
}
