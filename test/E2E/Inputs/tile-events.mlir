func.func @main(%x: tensor<1x48x61x60xf32>) -> tensor<1x24x61x60xf32> {
  %v = nn.constant dense<0.02> : tensor<24x48x3x3xf32>
  %w = nn.constant dense<0.03> : tensor<24x24x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x48x61x60xf32>, tensor<24x48x3x3xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<1x24x61x60xf32>, tensor<24x24x3x3xf32>
  return %1 : tensor<1x24x61x60xf32>
}
