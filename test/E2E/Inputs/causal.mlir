// Causal attention over 100 steps whose last value is infinite.
func.func @main(%x: tensor<100x16xf32> {nn.name = "x"}) -> (tensor<100x16xf32> {nn.name = "y"}) {
  %i = nn.iota axis = 0 : tensor<100x1xi64>
  %j = nn.iota axis = 1 : tensor<1x100xi64>
  %end = nn.constant dense<99> : tensor<i64>
  %is_last = nn.compare eq %i, %end : tensor<100x1xi64>, tensor<i64>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %v = nn.select %is_last, %low, %x : tensor<100x1xi1>, tensor<f32>, tensor<100x16xf32>
  %seen = nn.compare ge %i, %j : tensor<100x1xi64>, tensor<1x100xi64>
  %0 = nn.matmul %x, %x {transpose_rhs} : tensor<100x16xf32>, tensor<100x16xf32>
  %1 = nn.select %seen, %0, %low : tensor<100x100xi1>, tensor<100x100xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 1 : tensor<100x100xf32>
  %3 = nn.matmul %2, %v : tensor<100x100xf32>, tensor<100x16xf32>
  return %3 : tensor<100x16xf32>
}
