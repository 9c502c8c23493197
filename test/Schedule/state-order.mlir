// RUN: %sprig-opt %s --split-input-file --pass-pipeline='builtin.module(sprig-schedule,exec.program(sprig-plan-memory))' | FileCheck %s

// Another reader of the old value comes first, then the update is written in place.
// CHECK: exec.program @later {{.*}} arena 0
// CHECK-DAG: %[[OLD:.*]] = exec.buffer state @w
// CHECK: exec.dispatch @read(%[[W:.*]], %{{.*}}, %{{.*}})
// CHECK-NEXT: exec.dispatch @update(%[[W]], %{{.*}}, %[[NEW:.*]])
// CHECK-NOT: exec.copy
nn.param @w = dense<1.0> : tensor<64xf32>
func.func @later(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = nn.get_param @w : tensor<64xf32>
  %new = kernel.dispatch "update" (%a = %w : tensor<64xf32>, %b = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.add %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  nn.set_param @w, %new : tensor<64xf32>
  %y = kernel.dispatch "read" (%a = %w : tensor<64xf32>, %b = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.mul %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A reader of the old value that needs the new one, too, cannot come first: the update is copied at the end.
// CHECK: exec.program @after_update {{.*}} arena 256
// CHECK: %[[NEW:.*]] = exec.buffer arena
// CHECK: exec.dispatch @update(%{{.*}}, %{{.*}}, %[[NEW]])
// CHECK-NEXT: exec.dispatch @read(%{{.*}}, %[[NEW]], %{{.*}})
// CHECK-NEXT: exec.copy %[[NEW]] to
nn.param @w = dense<1.0> : tensor<64xf32>
func.func @after_update(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = nn.get_param @w : tensor<64xf32>
  %new = kernel.dispatch "update" (%a = %w : tensor<64xf32>, %b = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.add %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  %y = kernel.dispatch "read" (%a = %w : tensor<64xf32>, %b = %new : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.mul %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  nn.set_param @w, %new : tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// Two parameters change places: one is put aside.
// CHECK: exec.program @swap
// CHECK: %[[P:.*]] = exec.buffer state @p
// CHECK: %[[Q:.*]] = exec.buffer state @q
// CHECK: %[[ASIDE:.*]] = exec.buffer arena
// CHECK: %[[Q2:.*]] = exec.buffer state @q
// CHECK: %[[P2:.*]] = exec.buffer state @p
// CHECK: exec.copy %[[Q]] to %[[ASIDE]]
// CHECK-NEXT: exec.copy %[[P]] to %[[Q2]]
// CHECK-NEXT: exec.copy %[[ASIDE]] to %[[P2]]
nn.param @p = dense<1.0> : tensor<64xf32>
nn.param @q = dense<2.0> : tensor<64xf32>
func.func @swap() {
  %p = nn.get_param @p : tensor<64xf32>
  %q = nn.get_param @q : tensor<64xf32>
  nn.set_param @p, %q : tensor<64xf32>
  nn.set_param @q, %p : tensor<64xf32>
  return
}

// -----

// Each of two reads what the other writes: only the second one can be in place.
// CHECK: exec.program @cross {{.*}} arena 256
// CHECK: %[[P:.*]] = exec.buffer state @p
// CHECK: %[[NEW:.*]] = exec.buffer arena
// CHECK: %[[Q:.*]] = exec.buffer state @q
// CHECK: exec.dispatch @{{.*}}(%[[P]], %{{.*}}, %[[NEW]])
// CHECK-NEXT: exec.dispatch @{{.*}}(%[[Q]], %{{.*}}, %{{.*}})
// CHECK-NEXT: exec.copy %[[NEW]] to
nn.param @p = dense<1.0> : tensor<64xf32>
nn.param @q = dense<2.0> : tensor<64xf32>
func.func @cross(%x: tensor<64xf32>) {
  %p = nn.get_param @p : tensor<64xf32>
  %q = nn.get_param @q : tensor<64xf32>
  %p2 = kernel.dispatch "p" (%a = %q : tensor<64xf32>, %b = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.add %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  %q2 = kernel.dispatch "q" (%a = %p : tensor<64xf32>, %b = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.sub %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  nn.set_param @p, %p2 : tensor<64xf32>
  nn.set_param @q, %q2 : tensor<64xf32>
  return
}

// -----

// An update that stands at the end comes as soon as its gradient is there, in front of what does not need it.
// CHECK: exec.program @early
// CHECK: exec.dispatch @gradient(
// CHECK-NEXT: exec.dispatch @update(
// CHECK-NEXT: exec.dispatch @rest(
nn.param @w = dense<1.0> : tensor<64xf32>
func.func @early(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = nn.get_param @w : tensor<64xf32>
  %g = kernel.dispatch "gradient" (%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.exp %a : tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  %y = kernel.dispatch "rest" (%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.sin %a : tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  %new = kernel.dispatch "update" (%a = %w : tensor<64xf32>, %b = %g : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.add %a, %b : tensor<64xf32>, tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  nn.set_param @w, %new : tensor<64xf32>
  return %y : tensor<64xf32>
}
