// RUN: sprig-opt %s --sprig-fuse --split-input-file | FileCheck %s

// The sum of two passes' gradients joins the second one's product: joined to the first one's it would keep both passes'
// activations. Dispatches are in the order of the passes.
// CHECK-LABEL: func.func @passes
// CHECK:         %[[A:.*]] = kernel.dispatch "matmul_exp"
// CHECK:         %[[G:.*]] = kernel.dispatch "matmul"
// CHECK-SAME:      %[[A]]
// CHECK:         %[[B:.*]] = kernel.dispatch "matmul_exp"
// CHECK:         kernel.dispatch "matmul_add"
// CHECK-SAME:      %[[B]]
// CHECK-SAME:      %[[G]]
// CHECK-NOT:     kernel.dispatch
func.func @passes(%x: tensor<256x32xf32>, %y: tensor<256x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = nn.matmul %x, %w : tensor<256x32xf32>, tensor<32x32xf32>
  %a = nn.exp %0 : tensor<256x32xf32>
  %g = nn.matmul %a, %a {transpose_lhs} : tensor<256x32xf32>, tensor<256x32xf32>
  %1 = nn.matmul %y, %w : tensor<256x32xf32>, tensor<32x32xf32>
  %b = nn.exp %1 : tensor<256x32xf32>
  %h = nn.matmul %b, %b {transpose_lhs} : tensor<256x32xf32>, tensor<256x32xf32>
  %s = nn.add %g, %h : tensor<32x32xf32>, tensor<32x32xf32>
  return %s : tensor<32x32xf32>
}

// -----

// What reads a value of the first pass goes on without the second one's: the sum of their losses is not made with the
// first loss.
// CHECK-LABEL: func.func @losses
// CHECK:         kernel.dispatch "exp_reduce"
// CHECK:         kernel.dispatch "matmul"
// CHECK:         kernel.dispatch "exp_reduce
// CHECK:         kernel.dispatch "matmul
func.func @losses(%x: tensor<256x32xf32>, %y: tensor<256x32xf32>) -> (tensor<256xf32>, tensor<32x32xf32>) {
  %a = nn.exp %x : tensor<256x32xf32>
  %l = nn.reduce sum %a axes = [1] : tensor<256x32xf32>
  %g = nn.matmul %a, %a {transpose_lhs} : tensor<256x32xf32>, tensor<256x32xf32>
  %b = nn.exp %y : tensor<256x32xf32>
  %m = nn.reduce sum %b axes = [1] : tensor<256x32xf32>
  %h = nn.matmul %b, %b {transpose_lhs} : tensor<256x32xf32>, tensor<256x32xf32>
  %t = nn.add %l, %m : tensor<256xf32>, tensor<256xf32>
  %s = nn.add %g, %h : tensor<32x32xf32>, tensor<32x32xf32>
  return %t, %s : tensor<256xf32>, tensor<32x32xf32>
}
