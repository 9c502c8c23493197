// Samples that do not depend on each other, in arrays that leave the second-level cache: pieces of them go through all.
func.func @main(%x: tensor<16x32x32x32xf32> {nn.name = "x"}, %rows: tensor<16x4xi64> {nn.name = "rows"})
    -> (tensor<16x10xf32> {nn.name = "y"}, tensor<16x32x32x32xf32> {nn.name = "map"}) {
  %count = nn.iota axis = 0 : tensor<9216xf32>
  %waves = nn.sin %count : tensor<9216xf32>
  %scale = nn.constant dense<0.05> : tensor<f32>
  %weights = nn.mul %waves, %scale : tensor<9216xf32>, tensor<f32>
  %w = nn.reshape %weights : tensor<9216xf32> to tensor<32x32x3x3xf32>
  %v = nn.transpose %w [1, 0, 3, 2] : tensor<32x32x3x3xf32>
  %some = nn.slice %waves starts = [0] sizes = [1600] steps = [1] : tensor<9216xf32>
  %table = nn.reshape %some : tensor<1600xf32> to tensor<50x32xf32>
  %m = nn.slice %table starts = [0, 0] sizes = [32, 10] steps = [1, 1] : tensor<50x32xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x32xf32>, tensor<32x32x3x3xf32>
  %1 = nn.relu %0 : tensor<16x32x32x32xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<16x32x32x32xf32>, tensor<32x32x3x3xf32>
  %3 = nn.add %2, %1 : tensor<16x32x32x32xf32>, tensor<16x32x32x32xf32>
  %4 = nn.reduce sum %3 axes = [2, 3] : tensor<16x32x32x32xf32>
  %5 = nn.gather %table, %rows axis = 0 : tensor<50x32xf32>, tensor<16x4xi64>
  %6 = nn.reduce sum %5 axes = [1] : tensor<16x4x32xf32>
  %7 = nn.add %4, %6 : tensor<16x32xf32>, tensor<16x32xf32>
  %8 = nn.matmul %7, %m : tensor<16x32xf32>, tensor<32x10xf32>
  return %8, %3 : tensor<16x10xf32>, tensor<16x32x32x32xf32>
}
