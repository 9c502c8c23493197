// A controller's network: rows of a table by index, two layers, a softmax; and the state that it goes on with.
func.func @main(%x: tensor<4x17xf32> {nn.name = "x"}, %rows: tensor<4xi64> {nn.name = "rows"},
                %table: tensor<5x64xf32> {nn.name = "table"}, %w: tensor<64x17xf32> {nn.name = "w"},
                %v: tensor<64x6xf32> {nn.name = "v"})
    -> (tensor<4x6xf32> {nn.name = "actions"}, tensor<4x64xf32> {nn.name = "state"}) {
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<4x17xf32>, tensor<64x17xf32>
  %1 = nn.gather %table, %rows axis = 0 : tensor<5x64xf32>, tensor<4xi64>
  %2 = nn.add %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
  %3 = nn.relu %2 : tensor<4x64xf32>
  %4 = nn.matmul %3, %v : tensor<4x64xf32>, tensor<64x6xf32>
  %5 = nn.softmax %4 axis = 1 : tensor<4x6xf32>
  return %5, %3 : tensor<4x6xf32>, tensor<4x64xf32>
}
