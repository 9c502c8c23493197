// RUN: %sprig-opt %s --sprig-differentiate --canonicalize --sprig-fold-constants --cse --split-input-file | FileCheck %s

// Nothing of a request is left. What is asked of one read of a parameter is asked of all.
// CHECK-NOT: nn.gradient
// CHECK-LABEL: @param
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>)
// CHECK-DAG: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<4x2xf32>
// CHECK-DAG: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[W:.*]] = nn.get_param @w
// CHECK: %[[Y:.*]] = nn.matmul %[[X]], %[[W]]
// CHECK: %[[R:.*]] = nn.relu %[[Y]]
// CHECK: %[[M:.*]] = nn.compare gt %[[R]], %[[ZERO]]
// CHECK: %[[G:.*]] = nn.select %[[M]], %[[ONE]], %[[ZERO]]
// CHECK: %[[D:.*]] = nn.matmul %[[X]], %[[G]] {transpose_lhs}
// CHECK-NEXT: return %[[D]]
nn.param @w = dense<1.0> : tensor<3x2xf32>
func.func @param(%x: tensor<4x3xf32>) -> tensor<3x2xf32> {
  %w = nn.get_param @w : tensor<3x2xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  %1 = nn.relu %0 : tensor<4x2xf32>
  %2 = nn.reduce sum %1 axes = [0, 1] : tensor<4x2xf32>
  %w2 = nn.get_param @w : tensor<3x2xf32>
  %r = nn.gradient %2 wrt %w2 : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @seed
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.*]] = nn.exp %[[X]]
// CHECK-NEXT: %[[G:.*]] = nn.mul %[[S]], %[[Y]]
// CHECK-NEXT: return %[[G]]
func.func @seed(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %r = nn.gradient %0 seed %s wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: @second_order
// CHECK-NEXT: %[[S:.*]] = nn.sin %arg0
// CHECK-NEXT: %[[N:.*]] = nn.neg %[[S]]
// CHECK-NEXT: return %[[N]]
func.func @second_order(%x: tensor<f32>) -> tensor<f32> {
  %0 = nn.sin %x : tensor<f32>
  %1 = nn.gradient %0 wrt %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = nn.gradient %1 wrt %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// Forwards: the first product and its placeholder are gone.
// CHECK-LABEL: @jvp
// CHECK-NEXT: %[[C:.*]] = nn.cos %arg0
// CHECK-NEXT: %[[R:.*]] = nn.mul %arg1, %[[C]]
// CHECK-NEXT: return %[[R]]
func.func @jvp(%x: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nn.sin %x : tensor<3xf32>
  %r = nn.jvp %0 wrt %x along %v : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: @stop
// CHECK-NEXT: %[[S:.*]] = nn.sin %arg0
// CHECK-NEXT: return %[[S]]
func.func @stop(%x: tensor<f32>) -> tensor<f32> {
  %0 = nn.sin %x : tensor<f32>
  %1 = nn.stop_gradient %0 : tensor<f32>
  %2 = nn.mul %1, %x : tensor<f32>, tensor<f32>
  %r = nn.gradient %2 wrt %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// CHECK-LABEL: @custom
// CHECK-NEXT: %[[Y:.*]] = nn.round %arg0
// CHECK-NEXT: %[[G:.*]] = nn.neg %arg1
// CHECK-NEXT: return %[[Y]], %[[G]]
func.func @custom(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "nn.custom_gradient"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = nn.round %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %y: tensor<4xf32>, %g: tensor<4xf32>):
    %1 = nn.neg %g : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %r = nn.gradient %0 seed %s wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// The second run comes after the cotangent and is not merged with the first.
// CHECK-LABEL: @checkpoint
// CHECK-NEXT: %[[S:.*]] = nn.sin %arg0
// CHECK-NEXT: %[[Y:.*]] = nn.exp %[[S]]
// CHECK-NEXT: %[[A:.*]] = nn.after %arg0, %arg1
// CHECK-NEXT: %[[S2:.*]] = nn.sin %[[A]]
// CHECK-NEXT: %[[Y2:.*]] = nn.exp %[[S2]]
// CHECK-NEXT: %[[G:.*]] = nn.mul %arg1, %[[Y2]]
// CHECK-NEXT: %[[C:.*]] = nn.cos %[[A]]
// CHECK-NEXT: %[[R:.*]] = nn.mul %[[G]], %[[C]]
// CHECK-NEXT: return %[[Y]], %[[R]]
func.func @checkpoint(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "nn.checkpoint"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = nn.sin %a : tensor<4xf32>
    %2 = nn.exp %1 : tensor<4xf32>
    nn.yield %2 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %r = nn.gradient %0 seed %s wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// Dead code is not emitted: neither the output nor anything of a value that does not depend on the target.
// CHECK-LABEL: @zeros
// CHECK-NEXT: %[[Z:.*]] = nn.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: return %[[Z]], %[[Z]]
func.func @zeros(%x: tensor<2xf32>, %y: tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = nn.sin %y : tensor<f32>
  %r = nn.gradient %0 wrt %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = nn.floor %x : tensor<2xf32>
  %2 = nn.reduce sum %1 axes = [0] : tensor<2xf32>
  %s = nn.gradient %2 wrt %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %r, %s : tensor<2xf32>, tensor<2xf32>
}

// -----

// A product that one gradient alone needs: that of the other operand is not there.
// CHECK-LABEL: @one_side
// CHECK-NEXT: %[[G:.*]] = nn.matmul %arg0, %arg2 {transpose_lhs}
// CHECK-NEXT: return %[[G]]
func.func @one_side(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %s: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  %r = nn.gradient %0 seed %s wrt %w : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// A constant power needs no care for the exponent zero.
// CHECK-LABEL: @square
// CHECK-NOT: nn.select
// CHECK: return
func.func @square(%x: tensor<2xf32>, %s: tensor<2xf32>) -> tensor<2xf32> {
  %c = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.pow %x, %c : tensor<2xf32>, tensor<f32>
  %r = nn.gradient %0 seed %s wrt %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
