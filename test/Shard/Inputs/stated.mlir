dist.mesh @mesh ["data"] [2]
func.func @main(%x: tensor<4x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<4x3xf32> {
  %0 = nn.exp %x : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
