func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = nn.relu %x : tensor<1000xf32>
  return %y : tensor<1000xf32>
}
