// Gradients of two recurrent layers: four loops over time, each one kernel on a GPU (gpu_kernels.py).
func.func @main(%x: tensor<5x8x32xf32>, %w: tensor<256x32xf32>, %r: tensor<256x64xf32>, %b: tensor<512xf32>, %u: tensor<192x64xf32>, %q: tensor<192x64xf32>)
    -> (tensor<256x32xf32>, tensor<256x64xf32>, tensor<512xf32>, tensor<192x64xf32>, tensor<192x64xf32>) {
  %h0 = nn.constant dense<0.0> : tensor<8x64xf32>
  %y, %h, %c = nn.lstm %x, %w, %r from %h0, %h0 bias %b : tensor<5x8x32xf32>, tensor<256x32xf32>, tensor<256x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<512xf32>
  %z, %g = nn.gru %y, %u, %q from %h0 {reverse} : tensor<5x8x64xf32>, tensor<192x64xf32>, tensor<192x64xf32>, tensor<8x64xf32>
  %squares = nn.mul %z, %z : tensor<5x8x64xf32>, tensor<5x8x64xf32>
  %loss = nn.reduce sum %squares axes = [0, 1, 2] : tensor<5x8x64xf32>
  %d:5 = nn.gradient %loss wrt %w, %r, %b, %u, %q : (tensor<f32>, tensor<256x32xf32>, tensor<256x64xf32>, tensor<512xf32>, tensor<192x64xf32>, tensor<192x64xf32>) -> (tensor<256x32xf32>, tensor<256x64xf32>, tensor<512xf32>, tensor<192x64xf32>, tensor<192x64xf32>)
  return %d#0, %d#1, %d#2, %d#3, %d#4 : tensor<256x32xf32>, tensor<256x64xf32>, tensor<512xf32>, tensor<192x64xf32>, tensor<192x64xf32>
}
