// RUN: sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-remat{bytes=6000}))" --split-input-file 2>&1 | FileCheck %s
// RUN: sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-remat))" --split-input-file | FileCheck %s --check-prefix=NONE

// A value of 4096 bytes waits for the backward pass: it is computed again from the input, in front of its use and behind
// what the backward pass has by then; nothing can merge the copy with the first. What cannot be helped is said.
// NONE-LABEL: func.func @step
// NONE-NOT: nn.after
// CHECK: warning: needs 12292 bytes between its operations, more than the 6000 that rematerialisation was asked for
// CHECK-LABEL: nn.param @w
// CHECK: func.func @step(%[[X:.*]]: tensor<32x32xf32>)
// CHECK: %[[S:.*]] = nn.sin %[[X]]
// CHECK: %[[E:.*]] = nn.exp %[[S]]
// CHECK: %[[A:.*]] = nn.mul %[[E]]
// CHECK: %[[LATER:.*]] = nn.after %[[X]], %[[A]] : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK: %[[AGAIN:.*]] = nn.sin %[[LATER]]
// CHECK: nn.mul %[[A]], %[[AGAIN]]
nn.param @w = dense<1.0> : tensor<f32>
func.func @step(%x: tensor<32x32xf32>) -> tensor<f32> {
  %w = nn.get_param @w : tensor<f32>
  %s = nn.sin %x : tensor<32x32xf32>
  %e = nn.exp %s : tensor<32x32xf32>
  %l = nn.reduce sum %e axes = [0, 1] : tensor<32x32xf32>
  %g = nn.mul %l, %w : tensor<f32>, tensor<f32>
  %a = nn.mul %e, %g : tensor<32x32xf32>, tensor<f32>
  %b = nn.mul %a, %s : tensor<32x32xf32>, tensor<32x32xf32>
  %t = nn.reduce sum %b axes = [0, 1] : tensor<32x32xf32>
  nn.set_param @w, %t : tensor<f32>
  return %l : tensor<f32>
}

// -----

// A function that sets nothing has no backward pass.
// CHECK-LABEL: func.func @inference
// CHECK-NOT: nn.after
func.func @inference(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %s = nn.sin %x : tensor<32x32xf32>
  %e = nn.exp %s : tensor<32x32xf32>
  %c = nn.cos %e : tensor<32x32xf32>
  %m = nn.mul %c, %s : tensor<32x32xf32>, tensor<32x32xf32>
  return %m : tensor<32x32xf32>
}
