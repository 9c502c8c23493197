// RUN: %sprig-opt %s --sprig-schedule --split-input-file --verify-diagnostics | FileCheck %s

// In place where nothing else reads the operand, else on a copy as soon as it is there; the program says whose it is.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: attributes {rank = 1 : i64, ranks = 3 : i64, samples_of_ranks = 32 : i64}
// CHECK: %[[X:.*]] = exec.buffer  input[0]
// CHECK: exec.lane
// CHECK-NEXT: exec.copy %[[X]] to %[[S:[0-9]+]]
// CHECK-NEXT: exec.dispatch @exp(%[[X]], %[[E:[0-9]+]])
// CHECK-NEXT: exec.all_reduce sum(%[[E]]) by "ring" named "w" : memref<4xf32>
// CHECK-NEXT: exec.all_reduce max(%[[S]]) : memref<4xf32>
dist.mesh @mesh ["data"] [3]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.rank = 1 : i64, dist.samples = 32 : i64} {
  %y = kernel.dispatch "exp" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.exp %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  %s = dist.all_reduce sum %y on @mesh ["data"] by "ring" : tensor<4xf32> loc("w")
  %m = dist.all_reduce max %x on @mesh ["data"] : tensor<4xf32>
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}

// -----

// By another name, too; and what does not need the sums comes before what does, updates as well.
// CHECK-LABEL: exec.program @late
// CHECK: exec.dispatch @first(%{{.*}}, %[[E:[0-9]+]])
// CHECK-NEXT: exec.all_reduce sum(%[[E]]) : memref<4xf32>
// CHECK-NEXT: exec.dispatch @rest
// CHECK-NEXT: exec.dispatch @update
nn.param @w = dense<1.0> : tensor<2x2xf32>
dist.mesh @mesh ["data"] [3]
func.func @late(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = nn.get_param @w : tensor<2x2xf32>
  %y = kernel.dispatch "first" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.exp %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  %r = nn.reshape %y : tensor<4xf32> to tensor<2x2xf32>
  %s = dist.all_reduce sum %r on @mesh ["data"] : tensor<2x2xf32>
  %new = kernel.dispatch "update" (%a = %w : tensor<2x2xf32>, %b = %s : tensor<2x2xf32>) -> tensor<2x2xf32> {
    %v = nn.add %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
    kernel.yield %v : tensor<2x2xf32>
  }
  nn.set_param @w, %new : tensor<2x2xf32>
  %z = kernel.dispatch "rest" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.sin %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{is no command of programs yet, only dist.all_reduce is}}
  %s = dist.all_gather %x on @mesh ["data"] : tensor<4xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

dist.mesh @mesh ["data", "model"] [2, 2]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is of a part of the mesh's ranks; programs have collectives of all ranks alone yet}}
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

dist.mesh @two ["data"] [2]
dist.mesh @three ["data"] [3]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = dist.all_reduce sum %x on @two ["data"] : tensor<4xf32>
  // expected-error @+1 {{'dist.all_reduce' op is of 3 ranks, in a program whose first collective is of 2}}
  %t = dist.all_reduce sum %s on @three ["data"] : tensor<4xf32>
  return %t : tensor<4xf32>
}
