// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s
// RUN: %sprig-opt %s --verify-roundtrip --mlir-print-op-generic --split-input-file | FileCheck %s --check-prefix=GENERIC
// RUN: %sprig-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLD

// The predicate comes first, then what both regions take under the same names.
// CHECK-LABEL: func.func @cond(
// CHECK: nn.cond %{{.*}} with (%[[A:.*]] = %{{.*}} : tensor<4xf32>, %[[B:.*]] = %{{.*}} : tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<i64>) {
// CHECK: nn.mul %[[A]], %[[B]]
// CHECK: nn.yield
// CHECK: } else {
// CHECK: nn.exp %[[B]]
// CHECK: nn.yield
// GENERIC-LABEL: sym_name = "cond"
// GENERIC: "nn.cond"(%{{.*}}, %{{.*}}, %{{.*}}) ({
// GENERIC: }, {
// GENERIC: }) : (tensor<i1>, tensor<4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<i64>)
func.func @cond(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<i64>) {
  %0:2 = nn.cond %p with (%a = %x : tensor<4xf32>, %b = %y : tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<i64>) {
    %1 = nn.mul %a, %b : tensor<4xf32>, tensor<2x4xf32>
    %2 = nn.constant dense<1> : tensor<i64>
    nn.yield %1, %2 : tensor<2x4xf32>, tensor<i64>
  } else {
    %1 = nn.exp %b : tensor<2x4xf32>
    %2 = nn.constant dense<2> : tensor<i64>
    nn.yield %1, %2 : tensor<2x4xf32>, tensor<i64>
  }
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<i64>
}

// -----

// CHECK-LABEL: func.func @while(
// CHECK: nn.while max_steps = 9 carry (%[[S:.*]] = %{{.*}} : tensor<4xf32>, %[[N:.*]] = %{{.*}} : tensor<i64>) with (%[[W:.*]] = %{{.*}} : tensor<4xf32>) {
// CHECK: nn.compare lt %[[N]]
// CHECK: nn.yield %{{.*}} : tensor<i1>
// CHECK: } do {
// CHECK: nn.mul %[[S]], %[[W]]
// GENERIC-LABEL: sym_name = "while"
// GENERIC: "nn.while"(%{{.*}}, %{{.*}}, %{{.*}}) <{max_steps = 9 : i64, operandSegmentSizes = array<i32: 2, 1>}> ({
func.func @while(%x: tensor<4xf32>, %n: tensor<i64>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  %0:2 = nn.while max_steps = 9 carry (%s = %x : tensor<4xf32>, %k = %n : tensor<i64>) with (%v = %w : tensor<4xf32>) {
    %1 = nn.constant dense<5> : tensor<i64>
    %2 = nn.compare lt %k, %1 : tensor<i64>, tensor<i64>
    nn.yield %2 : tensor<i1>
  } do {
    %1 = nn.mul %s, %v : tensor<4xf32>, tensor<4xf32>
    %2 = nn.add %k, %k : tensor<i64>, tensor<i64>
    nn.yield %1, %2 : tensor<4xf32>, tensor<i64>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<i64>
}

// -----

// No clause at all: the branches give constants.
// CHECK-LABEL: func.func @bare(
// CHECK: nn.cond %{{.*}} -> tensor<i64> {
func.func @bare(%p: tensor<i1>) -> tensor<i64> {
  %0 = nn.cond %p -> tensor<i64> {
    %1 = nn.constant dense<1> : tensor<i64>
    nn.yield %1 : tensor<i64>
  } else {
    %1 = nn.constant dense<2> : tensor<i64>
    nn.yield %1 : tensor<i64>
  }
  return %0 : tensor<i64>
}

// -----

// A known predicate leaves its branch.
// FOLD-LABEL: func.func @known(
// FOLD-NOT: nn.cond
// FOLD: %[[R:.*]] = nn.exp %arg0
// FOLD-NEXT: return %[[R]]
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = nn.constant dense<false> : tensor<i1>
  %0 = nn.cond %p with (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.sin %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } else {
    %1 = nn.exp %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Constants go inside, a value that is passed twice or not read is passed once or not at all, as are results.
// FOLD-LABEL: func.func @inputs(
// FOLD: nn.cond %arg0 with (%[[A:.*]] = %arg1 : tensor<4xf32>) -> tensor<4xf32> {
// FOLD: %[[C:.*]] = nn.constant dense<2.000000e+00>
// FOLD: nn.mul %[[A]], %[[C]]
// FOLD: else
// FOLD: nn.yield %[[A]] : tensor<4xf32>
func.func @inputs(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<2.0> : tensor<4xf32>
  %0:2 = nn.cond %p with (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>, %d = %c : tensor<4xf32>, %e = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = nn.mul %e, %d : tensor<4xf32>, tensor<4xf32>
    nn.yield %a, %1 : tensor<4xf32>, tensor<4xf32>
  } else {
    nn.yield %a, %e : tensor<4xf32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

// A loop that does not start.
// FOLD-LABEL: func.func @no_step(
// FOLD-NEXT: return %arg0
func.func @no_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.while carry (%s = %x : tensor<4xf32>) {
    %1 = nn.constant dense<false> : tensor<i1>
    nn.yield %1 : tensor<i1>
  } do {
    %1 = nn.exp %s : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// What no step changes is an invariant, and a constant one goes inside.
// FOLD-LABEL: func.func @unchanged(
// FOLD: %[[R:.*]] = nn.while carry (%[[S:.*]] = %arg0 : tensor<f32>) with (%[[L:.*]] = %arg1 : tensor<f32>) {
// FOLD: nn.compare lt %[[S]], %[[L]]
// FOLD: do
// FOLD: %[[C:.*]] = nn.constant dense<3.000000e+00>
// FOLD: nn.mul %[[S]], %[[C]]
// FOLD: return %[[R]], %arg1
func.func @unchanged(%x: tensor<f32>, %limit: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %c = nn.constant dense<3.0> : tensor<f32>
  %0:3 = nn.while carry (%l = %limit : tensor<f32>, %s = %x : tensor<f32>, %f = %c : tensor<f32>) {
    %1 = nn.compare lt %s, %l : tensor<f32>, tensor<f32>
    nn.yield %1 : tensor<i1>
  } do {
    %1 = nn.mul %s, %f : tensor<f32>, tensor<f32>
    nn.yield %l, %1, %f : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#1, %0#0 : tensor<f32>, tensor<f32>
}
