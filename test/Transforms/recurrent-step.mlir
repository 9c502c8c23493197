// RUN: sprig compile %s --compile-to fuse | FileCheck %s

// Training steps of layers whose gates lie in PyTorch's order, as programs record them: weights are packed as they lie,
// gradients come as they lie and are taken off in the products that make them, and biases are read where they are.
nn.param @lstm_w = dense<0.1> : tensor<96x8xf32>
nn.param @lstm_r = dense<0.1> : tensor<96x24xf32>
nn.param @lstm_b = dense<0.1> : tensor<96xf32>
nn.param @lstm_c = dense<0.1> : tensor<96xf32>
nn.param @gru_w = dense<0.1> : tensor<72x8xf32>
nn.param @gru_r = dense<0.1> : tensor<72x24xf32>
nn.param @gru_b = dense<0.1> : tensor<72xf32>
nn.param @gru_c = dense<0.1> : tensor<72xf32>

// CHECK-LABEL: func.func @lstm_step(
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_packed_add"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "scan"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_mul_sub"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_mul_sub"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: return
func.func @lstm_step(%x: tensor<10x4x8xf32>, %h: tensor<4x24xf32>) -> tensor<f32> {
  %w = nn.get_param @lstm_w : tensor<96x8xf32>
  %r = nn.get_param @lstm_r : tensor<96x24xf32>
  %b = nn.get_param @lstm_b : tensor<96xf32>
  %c = nn.get_param @lstm_c : tensor<96xf32>
  %bias = nn.concat %b, %c axis = 0 : tensor<96xf32>, tensor<96xf32>
  %y, %hn, %cn = nn.lstm %x, %w, %r from %h, %h bias %bias {gate_blocks = array<i64: 0, 3, 1, 2>} : tensor<10x4x8xf32>, tensor<96x8xf32>, tensor<96x24xf32>, tensor<4x24xf32>, tensor<4x24xf32>, tensor<192xf32>
  %s = nn.mul %y, %y : tensor<10x4x24xf32>, tensor<10x4x24xf32>
  %loss = nn.reduce sum %s axes = [0, 1, 2] : tensor<10x4x24xf32>
  %gw, %gr, %gb, %gc = nn.gradient %loss wrt %w, %r, %b, %c : (tensor<f32>, tensor<96x8xf32>, tensor<96x24xf32>, tensor<96xf32>, tensor<96xf32>) -> (tensor<96x8xf32>, tensor<96x24xf32>, tensor<96xf32>, tensor<96xf32>)
  %lr = nn.constant dense<0.01> : tensor<f32>
  %0 = nn.mul %gw, %lr : tensor<96x8xf32>, tensor<f32>
  %1 = nn.sub %w, %0 : tensor<96x8xf32>, tensor<96x8xf32>
  nn.set_param @lstm_w, %1 : tensor<96x8xf32>
  %2 = nn.mul %gr, %lr : tensor<96x24xf32>, tensor<f32>
  %3 = nn.sub %r, %2 : tensor<96x24xf32>, tensor<96x24xf32>
  nn.set_param @lstm_r, %3 : tensor<96x24xf32>
  %4 = nn.mul %gb, %lr : tensor<96xf32>, tensor<f32>
  %5 = nn.sub %b, %4 : tensor<96xf32>, tensor<96xf32>
  nn.set_param @lstm_b, %5 : tensor<96xf32>
  %6 = nn.mul %gc, %lr : tensor<96xf32>, tensor<f32>
  %7 = nn.sub %c, %6 : tensor<96xf32>, tensor<96xf32>
  nn.set_param @lstm_c, %7 : tensor<96xf32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @gru_step(
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_packed_add"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "scan"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_mul_sub"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: kernel.dispatch "matmul_mul_sub"
// CHECK-NOT: kernel.dispatch "{{.*(slice|concat).*}}"
// CHECK: return
func.func @gru_step(%x: tensor<10x4x8xf32>, %h: tensor<4x24xf32>) -> tensor<f32> {
  %w = nn.get_param @gru_w : tensor<72x8xf32>
  %r = nn.get_param @gru_r : tensor<72x24xf32>
  %b = nn.get_param @gru_b : tensor<72xf32>
  %c = nn.get_param @gru_c : tensor<72xf32>
  %bias = nn.concat %b, %c axis = 0 : tensor<72xf32>, tensor<72xf32>
  %y, %hn = nn.gru %x, %w, %r from %h bias %bias {linear_before_reset, gate_blocks = array<i64: 1, 0, 2>} : tensor<10x4x8xf32>, tensor<72x8xf32>, tensor<72x24xf32>, tensor<4x24xf32>, tensor<144xf32>
  %s = nn.mul %y, %y : tensor<10x4x24xf32>, tensor<10x4x24xf32>
  %loss = nn.reduce sum %s axes = [0, 1, 2] : tensor<10x4x24xf32>
  %gw, %gr, %gb, %gc = nn.gradient %loss wrt %w, %r, %b, %c : (tensor<f32>, tensor<72x8xf32>, tensor<72x24xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<72x8xf32>, tensor<72x24xf32>, tensor<72xf32>, tensor<72xf32>)
  %lr = nn.constant dense<0.01> : tensor<f32>
  %0 = nn.mul %gw, %lr : tensor<72x8xf32>, tensor<f32>
  %1 = nn.sub %w, %0 : tensor<72x8xf32>, tensor<72x8xf32>
  nn.set_param @gru_w, %1 : tensor<72x8xf32>
  %2 = nn.mul %gr, %lr : tensor<72x24xf32>, tensor<f32>
  %3 = nn.sub %r, %2 : tensor<72x24xf32>, tensor<72x24xf32>
  nn.set_param @gru_r, %3 : tensor<72x24xf32>
  %4 = nn.mul %gb, %lr : tensor<72xf32>, tensor<f32>
  %5 = nn.sub %b, %4 : tensor<72xf32>, tensor<72xf32>
  nn.set_param @gru_b, %5 : tensor<72xf32>
  %6 = nn.mul %gc, %lr : tensor<72xf32>, tensor<f32>
  %7 = nn.sub %c, %6 : tensor<72xf32>, tensor<72xf32>
  nn.set_param @gru_c, %7 : tensor<72xf32>
  return %loss : tensor<f32>
}
