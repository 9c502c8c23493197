// A gradient of a weight over more than 1024 rows, which no 512 divides.
func.func @main(%x: tensor<1100x40xf32>, %g: tensor<1100x24xf32>) -> tensor<40x24xf32> {
  %0 = nn.matmul %x, %g {transpose_lhs} : tensor<1100x40xf32>, tensor<1100x24xf32>
  return %0 : tensor<40x24xf32>
}
