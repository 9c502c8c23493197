// RUN: %sprig-opt %s --split-input-file --pass-pipeline='builtin.module(sprig-schedule,exec.program(sprig-plan-memory))' | FileCheck %s

// Two passes whose gradients are added up: the first one's backward pass comes before the second one's forward pass, so
// that a single pass keeps its activation.
// CHECK-LABEL: exec.program @passes
// CHECK-SAME: arena 8320
// CHECK: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @gradient
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @more
func.func @passes(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<32x1xf32> {
  %a = kernel.dispatch "forward" (%u = %x : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %b = kernel.dispatch "forward" (%u = %y : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %g = kernel.dispatch "gradient" (%u = %a : tensor<32x64xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    kernel.yield %v : tensor<32x1xf32>
  }
  %s = kernel.dispatch "more" (%u = %b : tensor<32x64xf32>, %t = %g : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    %w = nn.add %t, %v : tensor<32x1xf32>, tensor<32x1xf32>
    kernel.yield %w : tensor<32x1xf32>
  }
  return %s : tensor<32x1xf32>
}

// -----

// The same where the first gradient is the second pass's, as of a sum of both losses: that pass comes first.
// CHECK-LABEL: exec.program @reversed
// CHECK-SAME: arena 8320
// CHECK: %[[Y:.*]] = exec.buffer input[1]
// CHECK: exec.dispatch @forward(%[[Y]]
// CHECK-NEXT: exec.dispatch @gradient
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @more
func.func @reversed(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<32x1xf32> {
  %a = kernel.dispatch "forward" (%u = %x : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %b = kernel.dispatch "forward" (%u = %y : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %g = kernel.dispatch "gradient" (%u = %b : tensor<32x64xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    kernel.yield %v : tensor<32x1xf32>
  }
  %s = kernel.dispatch "more" (%u = %a : tensor<32x64xf32>, %t = %g : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    %w = nn.add %t, %v : tensor<32x1xf32>, tensor<32x1xf32>
    kernel.yield %w : tensor<32x1xf32>
  }
  return %s : tensor<32x1xf32>
}

// -----

// Where it would save less than a third, the order is the program's.
// CHECK-LABEL: exec.program @little
// CHECK: exec.dispatch @kept
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @gradient
// CHECK-NEXT: exec.dispatch @more
// CHECK-NEXT: exec.dispatch @kept
func.func @little(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<1024x64xf32>) -> (tensor<32x1xf32>, tensor<1024x64xf32>) {
  %k = kernel.dispatch "kept" (%u = %z : tensor<1024x64xf32>) -> tensor<1024x64xf32> {
    %v = nn.exp %u : tensor<1024x64xf32>
    kernel.yield %v : tensor<1024x64xf32>
  }
  %a = kernel.dispatch "forward" (%u = %x : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %b = kernel.dispatch "forward" (%u = %y : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %g = kernel.dispatch "gradient" (%u = %a : tensor<32x64xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    kernel.yield %v : tensor<32x1xf32>
  }
  %s = kernel.dispatch "more" (%u = %b : tensor<32x64xf32>, %t = %g : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    %w = nn.add %t, %v : tensor<32x1xf32>, tensor<32x1xf32>
    kernel.yield %w : tensor<32x1xf32>
  }
  %r = kernel.dispatch "kept" (%u = %k : tensor<1024x64xf32>) -> tensor<1024x64xf32> {
    %v = nn.exp %u : tensor<1024x64xf32>
    kernel.yield %v : tensor<1024x64xf32>
  }
  return %s, %r : tensor<32x1xf32>, tensor<1024x64xf32>
}

// -----

// Ranks with other shares of a batch would find other orders and wait for each other: theirs is the program's.
// CHECK-LABEL: exec.program @ranks
// CHECK: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @gradient
// CHECK-NEXT: exec.dispatch @more
dist.mesh @mesh ["data"] [2]
func.func @ranks(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<32x1xf32> attributes {dist.rank = 0 : i64} {
  %a = kernel.dispatch "forward" (%u = %x : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %b = kernel.dispatch "forward" (%u = %y : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %g = kernel.dispatch "gradient" (%u = %a : tensor<32x64xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    kernel.yield %v : tensor<32x1xf32>
  }
  %s = kernel.dispatch "more" (%u = %b : tensor<32x64xf32>, %t = %g : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    %w = nn.add %t, %v : tensor<32x1xf32>, tensor<32x1xf32>
    kernel.yield %w : tensor<32x1xf32>
  }
  %sum = dist.all_reduce sum %s on @mesh ["data"] : tensor<32x1xf32>
  return %sum : tensor<32x1xf32>
}

// -----

// But for parts that are to follow each other.
// CHECK-LABEL: exec.program @passes_of_ranks
// CHECK: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @gradient
// CHECK-NEXT: exec.dispatch @forward
// CHECK-NEXT: exec.dispatch @more
dist.mesh @mesh ["data"] [2]
func.func @passes_of_ranks(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<32x1xf32> attributes {dist.rank = 0 : i64, kernel.in_order} {
  %a = kernel.dispatch "forward" (%u = %x : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %b = kernel.dispatch "forward" (%u = %y : tensor<64xf32>) -> tensor<32x64xf32> {
    %v = nn.broadcast %u : tensor<64xf32> to tensor<32x64xf32>
    %w = nn.exp %v : tensor<32x64xf32>
    kernel.yield %w : tensor<32x64xf32>
  }
  %g = kernel.dispatch "gradient" (%u = %a : tensor<32x64xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    kernel.yield %v : tensor<32x1xf32>
  }
  %s = kernel.dispatch "more" (%u = %b : tensor<32x64xf32>, %t = %g : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %v = nn.reduce sum %u axes = [1] {keep_dims} : tensor<32x64xf32>
    %w = nn.add %t, %v : tensor<32x1xf32>, tensor<32x1xf32>
    kernel.yield %w : tensor<32x1xf32>
  }
  %sum = dist.all_reduce sum %s on @mesh ["data"] : tensor<32x1xf32>
  return %sum : tensor<32x1xf32>
}
