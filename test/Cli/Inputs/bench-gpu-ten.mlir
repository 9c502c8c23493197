func.func @main(%x0: tensor<16x16xf32>, %w0: tensor<16x16xf32>) -> (tensor<16x16xf32>) {
  %p0_0 = nn.matmul %x0, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_1 = nn.matmul %p0_0, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_2 = nn.matmul %p0_1, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_3 = nn.matmul %p0_2, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_4 = nn.matmul %p0_3, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_5 = nn.matmul %p0_4, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_6 = nn.matmul %p0_5, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_7 = nn.matmul %p0_6, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_8 = nn.matmul %p0_7, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_9 = nn.matmul %p0_8, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  return %p0_9 : tensor<16x16xf32>
}
