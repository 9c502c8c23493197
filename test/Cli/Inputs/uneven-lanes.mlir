// Two products that do not depend on each other, one of which takes eight times as long: with two lanes the thread of the
// short one ends first, and takes tiles of the long one.
func.func @main(%x: tensor<512x512xf32>, %a: tensor<512x512xf32>, %y: tensor<64x512xf32>, %b: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<64x512xf32>) {
  %0 = nn.matmul %x, %a : tensor<512x512xf32>, tensor<512x512xf32>
  %1 = nn.matmul %y, %b : tensor<64x512xf32>, tensor<512x512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<64x512xf32>
}
