// Four pieces that one share of the cores computes and another takes: each is copied while the next one is computed.
func.func @main(%x: tensor<64x64xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>, %d: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = nn.matmul %x, %a {nn.place = "cpu:1"} : tensor<64x64xf32>, tensor<64x64xf32> loc("piece 0")
  %1 = nn.matmul %x, %b {nn.place = "cpu:1"} : tensor<64x64xf32>, tensor<64x64xf32> loc("piece 1")
  %2 = nn.matmul %x, %c {nn.place = "cpu:1"} : tensor<64x64xf32>, tensor<64x64xf32> loc("piece 2")
  %3 = nn.matmul %x, %d {nn.place = "cpu:1"} : tensor<64x64xf32>, tensor<64x64xf32> loc("piece 3")
  %4 = nn.relu %0 {nn.place = "cpu:0"} : tensor<64x64xf32>
  %5 = nn.relu %1 {nn.place = "cpu:0"} : tensor<64x64xf32>
  %6 = nn.relu %2 {nn.place = "cpu:0"} : tensor<64x64xf32>
  %7 = nn.relu %3 {nn.place = "cpu:0"} : tensor<64x64xf32>
  return %4, %5, %6, %7 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
