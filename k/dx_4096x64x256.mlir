module {
func.func @main(%a: tensor<4096x256xf32>, %b: tensor<256x64xf32>) -> tensor<4096x64xf32> {
  %0 = nn.matmul %a, %b  : tensor<4096x256xf32>, tensor<256x64xf32>
  return %0 : tensor<4096x64xf32>
}
}
