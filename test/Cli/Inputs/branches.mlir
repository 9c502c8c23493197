// Two products that do not depend on each other.
func.func @main(%x: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %0 = nn.matmul %x, %x : tensor<256x256xf32>, tensor<256x256xf32>
  %1 = nn.matmul %x, %x {transpose_rhs} : tensor<256x256xf32>, tensor<256x256xf32>
  return %0, %1 : tensor<256x256xf32>, tensor<256x256xf32>
}
