func.func @main(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>, tensor<4xi32>) {
  %f32 = nn.cast %x : tensor<4xf64> to tensor<4xf32>
  %f16 = nn.cast %x : tensor<4xf64> to tensor<4xf16>
  %bf16 = nn.cast %x : tensor<4xf64> to tensor<4xbf16>
  %i32 = nn.cast %x : tensor<4xf64> to tensor<4xi32>
  return %x, %f32, %f16, %bf16, %i32 : tensor<4xf64>, tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>, tensor<4xi32>
}
