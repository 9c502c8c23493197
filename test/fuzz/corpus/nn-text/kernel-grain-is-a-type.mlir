exec.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64, grain = i64} {
  exec.yield %x : tensor<4xf32>
}
