// Keys whose elements are checked in front of the product; what is random is below zero somewhere.
func.func @main(%q: tensor<2x8x8xf32>, %x: tensor<2x8x24xf32>, %v: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %0 = nn.slice %x starts = [0, 0, 8] sizes = [2, 8, 8] steps = [1, 1, 1] : tensor<2x8x24xf32>
  %k = nn.in_range %0 {low = 0.0, high = 1.0} : tensor<2x8x8xf32>
  %1 = nn.matmul %q, %k {transpose_rhs} : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x8x8xf32>
  %3 = nn.matmul %2, %v : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return %3 : tensor<2x8x8xf32>
}
