// A loop over time whose matrix each step reads again.
func.func @main(%x: tensor<100x8x64xf32>, %h: tensor<8x64xf32>, %r: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %0 = nn.scan steps = 100 over (%xt = %x : tensor<100x8x64xf32>) carry (%s = %h : tensor<8x64xf32>) with (%w = %r : tensor<64x64xf32>) -> (tensor<8x64xf32>) {
    %p = nn.matmul %s, %w : tensor<8x64xf32>, tensor<64x64xf32>
    %q = nn.add %p, %xt : tensor<8x64xf32>, tensor<8x64xf32>
    %t = nn.tanh %q : tensor<8x64xf32>
    nn.yield %t : tensor<8x64xf32>
  }
  return %0 : tensor<8x64xf32>
}
