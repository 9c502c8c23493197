// Batch norms behind a grouped convolution with bias, a grouped transposed convolution, a linear layer and a product.
nn.param @w = dense<[[[[-0.7313, 0.6949, 0.5275], [-0.4899, -0.0091, -0.1010], [0.3032, 0.5774, -0.8123]], [[-0.9433, 0.6715, -0.1345], [0.5246, -0.9958, -0.1092], [0.4431, -0.5425, 0.8905]]], [[[0.8029, -0.9388, -0.9491], [0.0828, 0.8783, -0.2376], [-0.5668, -0.1558, -0.9419]], [[-0.5566, -0.1242, -0.0084], [-0.5338, -0.5383, -0.5624], [-0.0808, -0.4204, -0.9570]]], [[[0.6752, 0.1129, 0.2846], [-0.6282, 0.9851, 0.7199], [-0.7582, -0.3346, 0.4430]], [[0.4224, 0.8729, -0.1558], [0.6601, 0.3406, -0.3933], [0.1752, 0.7650, 0.6924]]], [[[0.0106, 0.1780, -0.9309], [-0.5145, 0.5948, -0.1714], [-0.6540, 0.0976, 0.4061]], [[0.3490, -0.2506, -0.1221], [0.0169, 0.5569, 0.0419], [-0.2135, -0.0206, -0.9409]]]]> : tensor<4x2x3x3xf32>
nn.param @wt = dense<[[[[-0.9130, 0.4068, 0.9664], [0.1864, -0.2128, -0.6593], [0.0045, 0.9642, 0.5410]], [[0.0792, 0.7206, -0.5356], [0.0275, 0.9049, 0.1556], [-0.0817, -0.4614, 0.0960]]], [[[0.9142, -0.9886, 0.5673], [0.6410, 0.7724, 0.4810], [0.6183, 0.0374, 0.1227]], [[-0.1478, -0.8878, 0.7400], [0.1400, -0.6003, 0.0094], [-0.0301, -0.2864, -0.3078]]], [[[0.0770, 0.2470, 0.2249], [-0.0837, -0.9441, -0.5408], [-0.6456, 0.1689, 0.7220]], [[0.5969, 0.5942, 0.6329], [-0.4894, 0.6835, 0.3462], [-0.8335, -0.9666, -0.9709]]], [[[0.5112, -0.5009, -0.7810], [0.2496, -0.3112, -0.8610], [-0.6807, 0.0548, -0.6637]], [[-0.4542, 0.4232, -0.0906], [-0.3560, -0.0525, -0.9527], [-0.2269, -0.1582, -0.6239]]]]> : tensor<4x2x3x3xf32>
nn.param @l = dense<[[-0.7825, 0.7996, 0.0202, -0.5818, 0.2113, 0.6341], [-0.9584, -0.9643, -0.7071, 0.4377, -0.6795, 0.4092], [0.3564, 0.0894, -0.5588, 0.9512, 0.5956, 0.0332], [-0.5536, 0.2970, -0.2102, 0.1517, -0.3575, 0.2619]]> : tensor<4x6xf32>
nn.param @b = dense<[-0.8824, -0.4028, 0.9358, 0.7511]> : tensor<4xf32>
nn.param @b3 = dense<[[[-0.3872]], [[0.7170]], [[-0.3793]], [[0.8786]]]> : tensor<4x1x1xf32>
nn.param @s = dense<[0.4877, -0.1677, -0.4953, -0.9830]> : tensor<4xf32>
nn.param @m = dense<[0.7574, -0.9242, 0.6388, 0.9244]> : tensor<4xf32>
nn.param @v = dense<[0.1406, 0.6570, 0.7356, 0.9476]> : tensor<4xf32>
func.func @main(%x: tensor<2x4x5x5xf32> {nn.name="x"}, %z: tensor<3x6xf32> {nn.name="z"}) -> (tensor<2x4x5x5xf32>, tensor<2x4x7x7xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = nn.get_param @w : tensor<4x2x3x3xf32>
  %wt = nn.get_param @wt : tensor<4x2x3x3xf32>
  %l = nn.get_param @l : tensor<4x6xf32>
  %b = nn.get_param @b : tensor<4xf32>
  %b3 = nn.get_param @b3 : tensor<4x1x1xf32>
  %s = nn.get_param @s : tensor<4xf32>
  %m = nn.get_param @m : tensor<4xf32>
  %v = nn.get_param @v : tensor<4xf32>
  %c = nn.conv %x, %w {groups = 2 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x4x5x5xf32>, tensor<4x2x3x3xf32>
  %cb = nn.add %c, %b3 : tensor<2x4x5x5xf32>, tensor<4x1x1xf32>
  %r0 = nn.batch_norm %cb, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %ct = nn.conv_transpose %x, %wt {groups = 2 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>} : tensor<2x4x5x5xf32>, tensor<4x2x3x3xf32>
  %r1 = nn.batch_norm %ct, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %ln = nn.linear %z, %l, %b : tensor<3x6xf32>, tensor<4x6xf32>, tensor<4xf32>
  %r2 = nn.batch_norm %ln, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %mm = nn.matmul %z, %l {transpose_rhs} : tensor<3x6xf32>, tensor<4x6xf32>
  %r3 = nn.batch_norm %mm, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %r0, %r1, %r2, %r3 : tensor<2x4x5x5xf32>, tensor<2x4x7x7xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
