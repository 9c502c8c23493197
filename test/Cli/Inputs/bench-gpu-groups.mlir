func.func @main(%x0: tensor<16x16xf32>, %w0: tensor<16x16xf32>, %x1: tensor<16x16xf32>, %w1: tensor<16x16xf32>, %x2: tensor<16x16xf32>, %w2: tensor<16x16xf32>, %x3: tensor<16x16xf32>, %w3: tensor<16x16xf32>, %x4: tensor<16x16xf32>, %w4: tensor<16x16xf32>, %x5: tensor<16x16xf32>, %w5: tensor<16x16xf32>, %x6: tensor<16x16xf32>, %w6: tensor<16x16xf32>, %x7: tensor<16x16xf32>, %w7: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %p0_0 = nn.matmul %x0, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_1 = nn.matmul %p0_0, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_2 = nn.matmul %p0_1, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p0_3 = nn.matmul %p0_2, %w0 : tensor<16x16xf32>, tensor<16x16xf32>
  %p1_0 = nn.matmul %x1, %w1 : tensor<16x16xf32>, tensor<16x16xf32>
  %p1_1 = nn.matmul %p1_0, %w1 : tensor<16x16xf32>, tensor<16x16xf32>
  %p1_2 = nn.matmul %p1_1, %w1 : tensor<16x16xf32>, tensor<16x16xf32>
  %p1_3 = nn.matmul %p1_2, %w1 : tensor<16x16xf32>, tensor<16x16xf32>
  %p2_0 = nn.matmul %x2, %w2 : tensor<16x16xf32>, tensor<16x16xf32>
  %p2_1 = nn.matmul %p2_0, %w2 : tensor<16x16xf32>, tensor<16x16xf32>
  %p2_2 = nn.matmul %p2_1, %w2 : tensor<16x16xf32>, tensor<16x16xf32>
  %p2_3 = nn.matmul %p2_2, %w2 : tensor<16x16xf32>, tensor<16x16xf32>
  %p3_0 = nn.matmul %x3, %w3 : tensor<16x16xf32>, tensor<16x16xf32>
  %p3_1 = nn.matmul %p3_0, %w3 : tensor<16x16xf32>, tensor<16x16xf32>
  %p3_2 = nn.matmul %p3_1, %w3 : tensor<16x16xf32>, tensor<16x16xf32>
  %p3_3 = nn.matmul %p3_2, %w3 : tensor<16x16xf32>, tensor<16x16xf32>
  %p4_0 = nn.matmul %x4, %w4 : tensor<16x16xf32>, tensor<16x16xf32>
  %p4_1 = nn.matmul %p4_0, %w4 : tensor<16x16xf32>, tensor<16x16xf32>
  %p4_2 = nn.matmul %p4_1, %w4 : tensor<16x16xf32>, tensor<16x16xf32>
  %p4_3 = nn.matmul %p4_2, %w4 : tensor<16x16xf32>, tensor<16x16xf32>
  %p5_0 = nn.matmul %x5, %w5 : tensor<16x16xf32>, tensor<16x16xf32>
  %p5_1 = nn.matmul %p5_0, %w5 : tensor<16x16xf32>, tensor<16x16xf32>
  %p5_2 = nn.matmul %p5_1, %w5 : tensor<16x16xf32>, tensor<16x16xf32>
  %p5_3 = nn.matmul %p5_2, %w5 : tensor<16x16xf32>, tensor<16x16xf32>
  %p6_0 = nn.matmul %x6, %w6 : tensor<16x16xf32>, tensor<16x16xf32>
  %p6_1 = nn.matmul %p6_0, %w6 : tensor<16x16xf32>, tensor<16x16xf32>
  %p6_2 = nn.matmul %p6_1, %w6 : tensor<16x16xf32>, tensor<16x16xf32>
  %p6_3 = nn.matmul %p6_2, %w6 : tensor<16x16xf32>, tensor<16x16xf32>
  %p7_0 = nn.matmul %x7, %w7 : tensor<16x16xf32>, tensor<16x16xf32>
  %p7_1 = nn.matmul %p7_0, %w7 : tensor<16x16xf32>, tensor<16x16xf32>
  %p7_2 = nn.matmul %p7_1, %w7 : tensor<16x16xf32>, tensor<16x16xf32>
  %p7_3 = nn.matmul %p7_2, %w7 : tensor<16x16xf32>, tensor<16x16xf32>
  return %p0_3, %p1_3, %p2_3, %p3_3, %p4_3, %p5_3, %p6_3, %p7_3 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
