// Products of f32, their gradient, and one in a branch with several tiles.
func.func @main(%x: tensor<20x70xf32>, %w: tensor<70x40xf32>, %v: tensor<40x66xf32>) -> (tensor<20x66xf32>, tensor<70x40xf32>) {
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
  return %y, %g : tensor<20x66xf32>, tensor<70x40xf32>
}
