// Rows of a table.
func.func @main(%t: tensor<1000x128xf32>, %i: tensor<16xi64>) -> tensor<16x128xf32> {
  %0 = nn.gather %t, %i axis = 0 : tensor<1000x128xf32>, tensor<16xi64>
  return %0 : tensor<16x128xf32>
}
