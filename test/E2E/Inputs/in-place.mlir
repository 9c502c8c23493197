// Results that can take the place of an operand: a residual behind a convolution and behind a product, elementwise steps,
// a softmax over rows. Sizes leave tails everywhere.
func.func @main(%x: tensor<2x7x39x45xf32> {nn.name = "x"}, %w: tensor<7x7x3x3xf32> {nn.name = "w"}, %m: tensor<37x37xf32> {nn.name = "m"},
                %z: tensor<3x37xf32> {nn.name = "z"}) -> (tensor<2x7x39x45xf32>, tensor<3x37xf32>, tensor<3x37xf32>) {
  %c0 = nn.conv %x, %w {groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x7x39x45xf32>, tensor<7x7x3x3xf32>
  %r0 = nn.relu %c0 : tensor<2x7x39x45xf32>
  %c1 = nn.conv %r0, %w {groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x7x39x45xf32>, tensor<7x7x3x3xf32>
  %r1 = nn.relu %c1 : tensor<2x7x39x45xf32>
  %c2 = nn.conv %r1, %w {groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x7x39x45xf32>, tensor<7x7x3x3xf32>
  %a0 = nn.add %c2, %r0 : tensor<2x7x39x45xf32>, tensor<2x7x39x45xf32>
  %c3 = nn.conv %a0, %w {groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x7x39x45xf32>, tensor<7x7x3x3xf32>

  %p0 = nn.matmul %z, %m : tensor<3x37xf32>, tensor<37x37xf32>
  %q0 = nn.tanh %p0 : tensor<3x37xf32>
  %p1 = nn.matmul %q0, %m : tensor<3x37xf32>, tensor<37x37xf32>
  %q1 = nn.tanh %p1 : tensor<3x37xf32>
  %p2 = nn.matmul %q1, %m : tensor<3x37xf32>, tensor<37x37xf32>
  %a1 = nn.add %p2, %q0 : tensor<3x37xf32>, tensor<3x37xf32>
  %s0 = nn.softmax %a1 axis = 1 : tensor<3x37xf32>
  %s1 = nn.softmax %s0 axis = 1 : tensor<3x37xf32>
  %p3 = nn.matmul %s1, %m : tensor<3x37xf32>, tensor<37x37xf32>
  return %c3, %p3, %s1 : tensor<2x7x39x45xf32>, tensor<3x37xf32>, tensor<3x37xf32>
}
