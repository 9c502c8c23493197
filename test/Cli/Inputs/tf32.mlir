// Products of f32, their gradient, and one in a branch with several tiles; a convolution and its gradients.
func.func @main(%x: tensor<20x70xf32>, %w: tensor<70x40xf32>, %v: tensor<40x66xf32>, %i: tensor<2x18x9x8xf32>, %f: tensor<32x18x3x3xf32>) -> (tensor<20x66xf32>, tensor<70x40xf32>, tensor<2x18x9x8xf32>, tensor<32x18x3x3xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %sum = nn.reduce sum %x axes = [0, 1] : tensor<20x70xf32>
  %p = nn.compare gt %sum, %zero : tensor<f32>, tensor<f32>
  %0 = nn.matmul %x, %w : tensor<20x70xf32>, tensor<70x40xf32>
  %h = nn.tanh %0 : tensor<20x40xf32>
  %loss = nn.reduce sum %h axes = [0, 1] : tensor<20x40xf32>
  %g = nn.gradient %loss wrt %w : (tensor<f32>, tensor<70x40xf32>) -> tensor<70x40xf32>
  %y = nn.cond %p with (%a = %h : tensor<20x40xf32>, %b = %v : tensor<40x66xf32>) -> tensor<20x66xf32> {
    %1 = nn.matmul %a, %b : tensor<20x40xf32>, tensor<40x66xf32>
    %2 = nn.tanh %1 : tensor<20x66xf32>
    nn.yield %2 : tensor<20x66xf32>
  } else {
    %1 = nn.matmul %a, %b : tensor<20x40xf32>, tensor<40x66xf32>
    %2 = nn.sin %1 : tensor<20x66xf32>
    nn.yield %2 : tensor<20x66xf32>
  }
  %c = nn.conv %i, %f {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x18x9x8xf32>, tensor<32x18x3x3xf32>
  %t = nn.tanh %c : tensor<2x32x5x8xf32>
  %s = nn.reduce sum %t axes = [0, 1, 2, 3] : tensor<2x32x5x8xf32>
  %d = nn.gradient %s wrt %i : (tensor<f32>, tensor<2x18x9x8xf32>) -> tensor<2x18x9x8xf32>
  %e = nn.gradient %s wrt %f : (tensor<f32>, tensor<32x18x3x3xf32>) -> tensor<32x18x3x3xf32>
  return %y, %g, %d, %e : tensor<20x66xf32>, tensor<70x40xf32>, tensor<2x18x9x8xf32>, tensor<32x18x3x3xf32>
}
