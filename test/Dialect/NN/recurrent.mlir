// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --sprig-decompose --split-input-file | FileCheck %s --check-prefix=PARTS

// PARTS-LABEL: func.func @scan(
// CHECK-LABEL: func.func @scan(
// CHECK: nn.scan steps = 3 reverse over (%[[T:.*]] = %{{.*}} : tensor<3x2x4xf32>) carry (%[[S:.*]] = %{{.*}} : tensor<2x4xf32>, %[[C:.*]] = %{{.*}} : tensor<i64>) with (%[[W:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<2x4xf32>, tensor<i64>, tensor<3x2x4xf32>) {
// CHECK: nn.mul %[[S]], %[[W]]
// CHECK: nn.yield
func.func @scan(%x: tensor<3x2x4xf32>, %h: tensor<2x4xf32>, %c: tensor<i64>, %w: tensor<4xf32>) -> (tensor<i64>, tensor<3x2x4xf32>) {
  %0:3 = nn.scan steps = 3 reverse over (%t = %x : tensor<3x2x4xf32>) carry (%s = %h : tensor<2x4xf32>, %n = %c : tensor<i64>) with (%v = %w : tensor<4xf32>) -> (tensor<2x4xf32>, tensor<i64>, tensor<3x2x4xf32>) {
    %1 = nn.mul %s, %v : tensor<2x4xf32>, tensor<4xf32>
    %2 = nn.add %1, %t : tensor<2x4xf32>, tensor<2x4xf32>
    %3 = nn.add %n, %n : tensor<i64>, tensor<i64>
    nn.yield %2, %3, %1 : tensor<2x4xf32>, tensor<i64>, tensor<2x4xf32>
  }
  return %0#1, %0#2 : tensor<i64>, tensor<3x2x4xf32>
}

// -----

// A loop without inputs.
// CHECK-LABEL: func.func @power(
// CHECK: nn.scan steps = 10 carry (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
func.func @power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.scan steps = 10 carry (%s = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.mul %s, %s : tensor<4xf32>, tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The products of all inputs at once, then the loop; biases come after their chains.
// CHECK-LABEL: func.func @rnn(
// CHECK: nn.rnn %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}} bias %{{.*}} lengths %{{.*}} {activations = ["scaled_tanh"], alphas = array<f64: 1.500000e+00>, betas = array<f64: 5.000000e-01>, clip = 2.000000e+00 : f64, reverse} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<2xi32>
// PARTS-LABEL: func.func @rnn(
// PARTS: %[[P:.*]] = nn.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<5x2x3xf32>, tensor<4x3xf32>
// PARTS: nn.slice %{{.*}} starts = [0] sizes = [4]
// PARTS: %[[IN:.*]] = nn.add %[[P]]
// PARTS: %[[TIMES:.*]] = nn.iota axis = 0 : tensor<5x1x1xi32>
// PARTS: %[[L:.*]] = nn.reshape %{{.*}} : tensor<2xi32> to tensor<2x1xi32>
// PARTS: nn.slice %{{.*}} starts = [4] sizes = [4]
// PARTS: nn.scan steps = 5 reverse over (%[[X:.*]] = %[[IN]] : tensor<5x2x4xf32>, %[[T:.*]] = %[[TIMES]] : tensor<5x1x1xi32>) carry (%[[H:.*]] = %{{.*}} : tensor<2x4xf32>)
// PARTS: nn.matmul %[[H]], %{{.*}} {transpose_rhs}
// PARTS: nn.max
// PARTS: nn.min
// PARTS: nn.tanh
// PARTS: %[[ON:.*]] = nn.compare lt %[[T]]
// PARTS: nn.select %[[ON]], %[[N:.*]], %[[H]]
// PARTS: nn.select %[[ON]], %[[N]]
func.func @rnn(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>, %h: tensor<2x4xf32>, %b: tensor<8xf32>, %l: tensor<2xi32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
  %y, %last = nn.rnn %x, %w, %r from %h bias %b lengths %l {activations = ["scaled_tanh"], alphas = array<f64: 1.5>, betas = array<f64: 0.5>, clip = 2.0 : f64, reverse} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<2xi32>
  return %y, %last : tensor<5x2x4xf32>, tensor<2x4xf32>
}

// -----

// Without linear_before_reset the candidate's product reads what the reset gate leaves of the state.
// CHECK-LABEL: func.func @gru(
// CHECK: nn.gru %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}} : tensor<5x2x3xf32>
// PARTS-LABEL: func.func @gru(
// PARTS: nn.scan steps = 5 over
// PARTS: nn.matmul %[[H:.*]], %{{.*}} {transpose_rhs} : tensor<2x4xf32>, tensor<8x4xf32>
// PARTS: %[[Z:.*]] = nn.sigmoid
// PARTS: %[[R:.*]] = nn.sigmoid
// PARTS: %[[RH:.*]] = nn.mul %[[R]], %[[H]]
// PARTS: nn.matmul %[[RH]], %{{.*}} {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
// PARTS: nn.tanh
func.func @gru(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %y, %last = nn.gru %x, %w, %r from %h : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @lstm(
// CHECK: nn.lstm %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}}, %{{.*}} bias %{{.*}} peephole %{{.*}} {input_forget} : tensor<5x2x3xf32>
// PARTS-LABEL: func.func @lstm(
// PARTS: nn.scan steps = 5 over
// PARTS: nn.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x4xf32>, tensor<16x4xf32>
// PARTS: %[[I:.*]] = nn.sigmoid
// PARTS: %[[F:.*]] = nn.sub %{{.*}}, %[[I]]
// PARTS: nn.tanh
// PARTS: nn.sigmoid
// PARTS: nn.tanh
func.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %b: tensor<32xf32>, %p: tensor<12xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
  %y, %last, %cell = nn.lstm %x, %w, %r from %h, %c bias %b peephole %p {input_forget} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<32xf32>, tensor<12xf32>
  return %y, %cell : tensor<5x2x4xf32>, tensor<2x4xf32>
}

// -----

// PyTorch's order of gates: each gate reads its own columns of the products, and nothing moves the weights.
// CHECK-LABEL: func.func @other_order(
// CHECK: nn.lstm {{.*}} {gate_blocks = array<i64: 0, 3, 1, 2>}
// PARTS-LABEL: func.func @other_order(
// PARTS-SAME: %[[X:.*]]: tensor<5x2x3xf32>, %[[W:.*]]: tensor<16x3xf32>, %[[R:.*]]: tensor<16x4xf32>
// PARTS-NOT: nn.slice
// PARTS-NOT: nn.concat
// PARTS: %[[P:.*]] = nn.matmul %[[X]], %[[W]] {transpose_rhs}
// PARTS: nn.scan steps = 5 over (%{{.*}} = %[[P]] : tensor<5x2x16xf32>) carry ({{.*}}) with (%[[M:.*]] = %[[R]] : tensor<16x4xf32>)
// PARTS: %[[S:.*]] = nn.add
// PARTS: %[[IN:.*]] = nn.slice %[[S]] starts = [0, 0] sizes = [2, 4]
// PARTS: %[[I:.*]] = nn.sigmoid %[[IN]]
// PARTS: %[[FORGET:.*]] = nn.slice %[[S]] starts = [0, 4] sizes = [2, 4]
// PARTS: nn.sigmoid %[[FORGET]]
// PARTS: %[[CELL:.*]] = nn.slice %[[S]] starts = [0, 8] sizes = [2, 4]
// PARTS: %[[N:.*]] = nn.tanh %[[CELL]]
// PARTS: nn.mul %[[I]], %[[N]]
// PARTS: %[[OUT:.*]] = nn.slice %[[S]] starts = [0, 12] sizes = [2, 4]
// PARTS: nn.sigmoid %[[OUT]]
func.func @other_order(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %y, %last, %cell = nn.lstm %x, %w, %r from %h, %c {gate_blocks = array<i64: 0, 3, 1, 2>} : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// -----

// With linear_before_reset all gates share the product of the state.
// CHECK-LABEL: func.func @gru_before(
// PARTS-LABEL: func.func @gru_before(
// PARTS-NOT: nn.slice
// PARTS: nn.scan
// PARTS: %[[S:.*]] = nn.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x4xf32>, tensor<12x4xf32>
// PARTS-NOT: nn.matmul
// PARTS: nn.slice %[[S]] starts = [0, 4]
// PARTS: nn.slice %[[S]] starts = [0, 0]
// PARTS: nn.slice %[[S]] starts = [0, 8]
// PARTS: nn.yield
func.func @gru_before(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %y, %last = nn.gru %x, %w, %r from %h {linear_before_reset, gate_blocks = array<i64: 1, 0, 2>} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// -----

// Of constant weights: the input is rounded and multiplied at once, in integers; the step rounds the state of all rows by
// its extremes. Zero points of weights go into their bytes, both biases are one behind all sums.
// CHECK-LABEL: func.func @bytes(
// CHECK: nn.lstm_integer %{{.*}}, %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}}, %{{.*}} bias %{{.*}} lengths %{{.*}} {reverse} : tensor<5x2x3xf32>
// PARTS-LABEL: func.func @bytes(
// PARTS: %[[X:.*]] = nn.quantize
// PARTS: nn.matmul %[[X]], %{{.*}} {accumulator = i32} : tensor<5x2x3xui8>, tensor<3x16xi8>
// PARTS: nn.gather
// PARTS: nn.scan steps = 5 over
// PARTS: %[[SEEN:.*]] = nn.select
// PARTS: nn.reduce min %[[SEEN]] axes = [0, 1] : tensor<2x4xf32>
// PARTS: nn.reduce max %[[SEEN]] axes = [0, 1] : tensor<2x4xf32>
// PARTS: %[[H:.*]] = nn.quantize %[[SEEN]]
// PARTS: nn.matmul %[[H]], %{{.*}} {accumulator = i32} : tensor<2x4xui8>, tensor<4x16xi8>
// PARTS-NOT: nn.reduce sum
// PARTS: nn.yield
// PARTS: nn.gather
func.func @bytes(%x: tensor<5x2x3xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %b: tensor<32xf32>, %l: tensor<2xi32>) -> tensor<5x2x4xf32> {
  %w = nn.constant dense<7> : tensor<3x16xi8>
  %r = nn.constant dense<-9> : tensor<4x16xi8>
  %s = nn.constant dense<0.01> : tensor<f32>
  %z = nn.constant dense<3> : tensor<i8>
  %y, %last, %cell = nn.lstm_integer %x, %w, %r scales %s, %z, %s, %z from %h, %c bias %b lengths %l {reverse} : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<32xf32>, tensor<2xi32>
  return %y : tensor<5x2x4xf32>
}

// -----

// Weights that are computed: the same numbers in floats.
// CHECK-LABEL: func.func @computed_bytes(
// PARTS-LABEL: func.func @computed_bytes(
// PARTS-NOT: accumulator
// PARTS: nn.scan
// PARTS: nn.matmul %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<4x16xf32>
func.func @computed_bytes(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<16xf32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %y, %last, %cell = nn.lstm_integer %x, %w, %r scales %s, %z, %s, %z from %h, %c : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<16xf32>, tensor<i8>, tensor<16xf32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>
  return %y : tensor<5x2x4xf32>
}
