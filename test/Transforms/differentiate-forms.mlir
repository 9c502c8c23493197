// What gradients look like, so that little is kept and moved.
// RUN: sprig-opt %s --sprig-differentiate --canonicalize --cse | FileCheck %s

// The derivative of an activation is one value of the forward pass, times the cotangent.
// CHECK-LABEL: func.func @activation(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<4x8xf32>)
// CHECK-NOT: %[[G]]
// CHECK: nn.erf
// CHECK-NOT: %[[G]]
// CHECK: %[[R:.*]] = nn.mul %[[G]], %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @activation(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = nn.gelu %x : tensor<4x8xf32>
  %r = nn.gradient %y seed %g wrt %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Slices side by side: their cotangents are joined, not padded and added.
// CHECK-LABEL: func.func @split(
// CHECK-NOT: nn.pad
// CHECK: nn.concat %{{.*}}, %{{.*}} axis = 1 : tensor<4x3xf32>, tensor<4x5xf32>
// CHECK-NOT: nn.add
func.func @split(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = nn.slice %x starts = [0, 0] sizes = [4, 3] steps = [1, 1] : tensor<4x8xf32>
  %b = nn.slice %x starts = [0, 3] sizes = [4, 5] steps = [1, 1] : tensor<4x8xf32>
  %s = nn.sin %a : tensor<4x3xf32>
  %c = nn.cos %b : tensor<4x5xf32>
  %0 = nn.reduce sum %s axes = [0, 1] : tensor<4x3xf32>
  %1 = nn.reduce sum %c axes = [0, 1] : tensor<4x5xf32>
  %l = nn.add %0, %1 : tensor<f32>, tensor<f32>
  %r = nn.gradient %l wrt %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Slices that leave a gap: zeros are there.
// CHECK-LABEL: func.func @gap(
// CHECK: nn.pad
// CHECK: nn.pad
// CHECK: nn.add
func.func @gap(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = nn.slice %x starts = [0, 0] sizes = [4, 3] steps = [1, 1] : tensor<4x8xf32>
  %b = nn.slice %x starts = [0, 4] sizes = [4, 4] steps = [1, 1] : tensor<4x8xf32>
  %s = nn.sin %a : tensor<4x3xf32>
  %c = nn.cos %b : tensor<4x4xf32>
  %0 = nn.reduce sum %s axes = [0, 1] : tensor<4x3xf32>
  %1 = nn.reduce sum %c axes = [0, 1] : tensor<4x4xf32>
  %l = nn.add %0, %1 : tensor<f32>, tensor<f32>
  %r = nn.gradient %l wrt %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A weight that the model transposes gets its gradient in its own layout.
// CHECK-LABEL: func.func @transposed_weight(
// CHECK-NOT: nn.transpose
// CHECK: nn.matmul %{{.*}}, %{{.*}} {transpose_lhs} : tensor<4x2xf32>, tensor<4x3xf32>
// CHECK-NOT: nn.transpose
func.func @transposed_weight(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %t = nn.transpose %w [1, 0] : tensor<2x3xf32>
  %y = nn.matmul %x, %t : tensor<4x3xf32>, tensor<3x2xf32>
  %e = nn.exp %y : tensor<4x2xf32>
  %l = nn.reduce sum %e axes = [0, 1] : tensor<4x2xf32>
  %r = nn.gradient %l wrt %w : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// The gradient of a branch is a branch, which keeps operands alone.
// CHECK-LABEL: func.func @branch(
// CHECK-NEXT: %[[R:.*]] = nn.cond %arg0 with (%[[X:.*]] = %arg1 : tensor<4xf32>, %[[G:.*]] = %arg2 : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[C:.*]] = nn.cos %[[X]]
// CHECK-NEXT: %[[P:.*]] = nn.mul %[[G]], %[[C]]
// CHECK-NEXT: nn.yield %[[P]]
// CHECK-NEXT: } else {
// CHECK-NEXT: nn.yield %[[G]]
// CHECK: return %[[R]]
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.cond %p with (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.sin %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } else {
    nn.yield %a : tensor<4xf32>
  }
  %r = nn.gradient %0 seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Along a loop on data its tangent is carried beside the value.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[R:.*]]:2 = nn.while max_steps = 5 carry (%[[V:.*]] = %arg0 : tensor<4xf32>, %[[T:.*]] = %arg1 : tensor<4xf32>) with (%[[U:.*]] = %arg2 : tensor<4xf32>) {
// CHECK: } do {
// CHECK-NEXT: %[[N:.*]] = nn.mul %[[V]], %[[U]]
// CHECK-NEXT: %[[D:.*]] = nn.mul %[[T]], %[[U]]
// CHECK-NEXT: nn.yield %[[N]], %[[D]]
// CHECK: return %[[R]]#1
func.func @loop(%x: tensor<4xf32>, %t: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.while max_steps = 5 carry (%v = %x : tensor<4xf32>) with (%u = %w : tensor<4xf32>) {
    %1 = nn.reduce max %v axes = [0] : tensor<4xf32>
    %2 = nn.constant dense<1.0> : tensor<f32>
    %3 = nn.compare lt %1, %2 : tensor<f32>, tensor<f32>
    nn.yield %3 : tensor<i1>
  } do {
    %1 = nn.mul %v, %u : tensor<4xf32>, tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  %r = nn.jvp %0 wrt %x along %t : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Sums that are wider than the factors: gradients are taken in the sums' type, and rounded to the factors'.
// CHECK-LABEL: func.func @accumulated(
// CHECK-DAG: %[[X:.*]] = nn.cast %arg0 : tensor<2x3xbf16> to tensor<2x3xf32>
// CHECK-DAG: %[[W:.*]] = nn.cast %arg1 : tensor<3x4xbf16> to tensor<3x4xf32>
// CHECK-DAG: %[[DX:.*]] = nn.matmul %{{.*}}, %[[W]] {transpose_rhs} : tensor<2x4xf32>, tensor<3x4xf32>
// CHECK-DAG: nn.cast %[[DX]] : tensor<2x3xf32> to tensor<2x3xbf16>
// CHECK-DAG: %[[DW:.*]] = nn.matmul %[[X]], %{{.*}} {transpose_lhs} : tensor<2x3xf32>, tensor<2x4xf32>
// CHECK-DAG: nn.cast %[[DW]] : tensor<3x4xf32> to tensor<3x4xbf16>
func.func @accumulated(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) -> (tensor<2x3xbf16>, tensor<3x4xbf16>) {
  %y = nn.matmul %x, %w {accumulator = f32} : tensor<2x3xbf16>, tensor<3x4xbf16>
  %loss = nn.reduce sum %y axes = [0, 1] : tensor<2x4xf32>
  %0:2 = nn.gradient %loss wrt %x, %w : (tensor<f32>, tensor<2x3xbf16>, tensor<3x4xbf16>) -> (tensor<2x3xbf16>, tensor<3x4xbf16>)
  return %0#0, %0#1 : tensor<2x3xbf16>, tensor<3x4xbf16>
}

// CHECK-LABEL: func.func @accumulated_convolution(
// CHECK: nn.conv_transpose %{{.*}}, %{{.*}} {{.*}} : tensor<1x4x3x3xf32>, tensor<4x2x2x2xf32>
// CHECK: nn.cast %{{.*}} : tensor<1x2x4x4xf32> to tensor<1x2x4x4xbf16>
// CHECK: nn.conv_filter_grad %{{.*}}, %{{.*}} {{.*}} : tensor<1x2x4x4xf32>, tensor<1x4x3x3xf32>
// CHECK: nn.cast %{{.*}} : tensor<4x2x2x2xf32> to tensor<4x2x2x2xbf16>
func.func @accumulated_convolution(%x: tensor<1x2x4x4xbf16>, %w: tensor<4x2x2x2xbf16>) -> (tensor<1x2x4x4xbf16>, tensor<4x2x2x2xbf16>) {
  %y = nn.conv %x, %w {accumulator = f32, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x2x4x4xbf16>, tensor<4x2x2x2xbf16>
  %loss = nn.reduce sum %y axes = [0, 1, 2, 3] : tensor<1x4x3x3xf32>
  %0:2 = nn.gradient %loss wrt %x, %w : (tensor<f32>, tensor<1x2x4x4xbf16>, tensor<4x2x2x2xbf16>) -> (tensor<1x2x4x4xbf16>, tensor<4x2x2x2xbf16>)
  return %0#0, %0#1 : tensor<1x2x4x4xbf16>, tensor<4x2x2x2xbf16>
}

// Marks of decompositions are gone: the forward pass is that without a gradient, and the derivative at 0 is chosen by
// the sign of x alone.
// CHECK-LABEL: func.func @softplus(
// CHECK-NOT: nn.stop_gradient
// CHECK-NOT: nn.custom_gradient
// CHECK: %[[A:.*]] = nn.abs %arg0
// CHECK: %[[N:.*]] = nn.neg %[[A]]
// CHECK: %[[E:.*]] = nn.exp %[[N]]
// CHECK: nn.log1p %[[E]]
// CHECK-NOT: nn.sign
// CHECK: %[[F:.*]] = nn.compare gt %arg0,
// CHECK: nn.select %[[F]],
// CHECK-NOT: nn.exp
// CHECK: return
func.func @softplus(%x: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = nn.softplus %x : tensor<4xf32>
  %r = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %r : tensor<4xf32>, tensor<4xf32>
}

// The exponential overflows where its branch is not taken: what comes back from it is chosen, not multiplied by 0.
// CHECK-LABEL: func.func @elu(
// CHECK: %[[P:.*]] = nn.compare gt %arg0,
// CHECK: %[[Y:.*]] = nn.expm1 %arg0
// CHECK: nn.add %[[Y]],
// CHECK: %[[B:.*]] = nn.mul
// CHECK: nn.select %[[P]], %{{.*}}, %[[B]]
// CHECK-NOT: nn.expm1
// CHECK: return
func.func @elu(%x: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = nn.elu %x : tensor<4xf32>
  %r = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %r : tensor<4xf32>, tensor<4xf32>
}

// A bound takes the gradient where both are equal; others share it.
// CHECK-LABEL: func.func @bound(
// CHECK: %[[I:.*]] = nn.compare gt %arg0, %arg1
// CHECK-NOT: nn.compare eq
// CHECK: nn.select %[[I]],
// CHECK: return
func.func @bound(%x: tensor<4xf32>, %c: tensor<f32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.max %x, %c {bound} : tensor<4xf32>, tensor<f32>
  %r = nn.gradient %y seed %g wrt %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
