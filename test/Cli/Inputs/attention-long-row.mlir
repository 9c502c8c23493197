func.func @main(%q: tensor<1x1xf32>, %k: tensor<1x12000xf32>, %v: tensor<12000x1xf32>, %x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = nn.matmul %q, %k : tensor<1x1xf32>, tensor<1x12000xf32>
  %1 = nn.softmax %0 axis = 1 : tensor<1x12000xf32>
  %2 = nn.matmul %1, %v : tensor<1x12000xf32>, tensor<12000x1xf32>
  %3 = nn.matmul %2, %x : tensor<1x1xf32>, tensor<1x8xf32>
  return %3 : tensor<1x8xf32>
}
