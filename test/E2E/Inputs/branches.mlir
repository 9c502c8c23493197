// Branches that do not depend on each other: a chain of two products, one of a product behind a step of elements, one
// that looks up rows, whose indices may be out of range, and multiplies them. What needs all of them comes last.
func.func @main(%x: tensor<64x96xf32> {nn.name = "x"}, %a: tensor<96x160xf32> {nn.name = "a"},
                %b: tensor<160x64xf32> {nn.name = "b"}, %c: tensor<96x64xf32> {nn.name = "c"},
                %table: tensor<50x64xf32> {nn.name = "table"}, %rows: tensor<64xi64> {nn.name = "rows"})
    -> (tensor<64x64xf32>, tensor<64x160xf32>) {
  %0 = nn.matmul %x, %a : tensor<64x96xf32>, tensor<96x160xf32>
  %1 = nn.tanh %0 : tensor<64x160xf32>
  %2 = nn.matmul %1, %b : tensor<64x160xf32>, tensor<160x64xf32>
  %3 = nn.sin %x : tensor<64x96xf32>
  %4 = nn.matmul %3, %c : tensor<64x96xf32>, tensor<96x64xf32>
  %5 = nn.gather %table, %rows axis = 0 : tensor<50x64xf32>, tensor<64xi64>
  %6 = nn.matmul %5, %5 {transpose_rhs} : tensor<64x64xf32>, tensor<64x64xf32>
  %7 = nn.add %2, %4 : tensor<64x64xf32>, tensor<64x64xf32>
  %8 = nn.add %7, %6 : tensor<64x64xf32>, tensor<64x64xf32>
  return %8, %1 : tensor<64x64xf32>, tensor<64x160xf32>
}
