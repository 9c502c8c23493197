func.func @main(%a: tensor<100x4xf32>, %b: tensor<4x10xf32>, %c: tensor<10x1xf32>) -> tensor<100x1xf32> {
  %p = nn.matmul %a, %b : tensor<100x4xf32>, tensor<4x10xf32>
  %y = nn.matmul %p, %c : tensor<100x10xf32>, tensor<10x1xf32>
  return %y : tensor<100x1xf32>
}
