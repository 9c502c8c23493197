// A training step of two recurrent layers, the second one from the last step to the first: on a GPU four loops over
// time, each one kernel.
func.func @main(%x: tensor<7x3x5xf32>, %w: tensor<48x5xf32>, %r: tensor<48x12xf32>, %b: tensor<96xf32>, %u: tensor<24x12xf32>, %q: tensor<24x8xf32>)
    -> (tensor<48x5xf32>, tensor<48x12xf32>, tensor<96xf32>, tensor<24x12xf32>, tensor<24x8xf32>, tensor<f32>) {
  %h0 = nn.constant dense<0.25> : tensor<3x12xf32>
  %c0 = nn.constant dense<0.5> : tensor<3x12xf32>
  %g0 = nn.constant dense<-0.25> : tensor<3x8xf32>
  %y, %h, %c = nn.lstm %x, %w, %r from %h0, %c0 bias %b : tensor<7x3x5xf32>, tensor<48x5xf32>, tensor<48x12xf32>, tensor<3x12xf32>, tensor<3x12xf32>, tensor<96xf32>
  %z, %g = nn.gru %y, %u, %q from %g0 {linear_before_reset, reverse} : tensor<7x3x12xf32>, tensor<24x12xf32>, tensor<24x8xf32>, tensor<3x8xf32>
  %squares = nn.mul %z, %z : tensor<7x3x8xf32>, tensor<7x3x8xf32>
  %loss = nn.reduce sum %squares axes = [0, 1, 2] : tensor<7x3x8xf32>
  %d:5 = nn.gradient %loss wrt %w, %r, %b, %u, %q : (tensor<f32>, tensor<48x5xf32>, tensor<48x12xf32>, tensor<96xf32>, tensor<24x12xf32>, tensor<24x8xf32>) -> (tensor<48x5xf32>, tensor<48x12xf32>, tensor<96xf32>, tensor<24x12xf32>, tensor<24x8xf32>)
  return %d#0, %d#1, %d#2, %d#3, %d#4, %loss : tensor<48x5xf32>, tensor<48x12xf32>, tensor<96xf32>, tensor<24x12xf32>, tensor<24x8xf32>, tensor<f32>
}
