// Products that keep a processor busy for far longer than their input takes to load.
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = nn.matmul %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
  %1 = nn.matmul %0, %x : tensor<512x512xf32>, tensor<512x512xf32>
  %2 = nn.matmul %1, %0 : tensor<512x512xf32>, tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}
