// RUN: %sprig-opt %s --sprig-schedule --split-input-file --verify-diagnostics | FileCheck %s

// In place where nothing else reads the operand, else on a copy as soon as it is there; the program says whose it is.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: attributes {rank = 1 : i64, ranks = 3 : i64, samples_of_ranks = 32 : i64}
// CHECK: %[[X:.*]] = exec.buffer  input[0]
// CHECK: exec.lane
// CHECK-NEXT: exec.copy %[[X]] to %[[S:[0-9]+]]
// CHECK-NEXT: exec.dispatch @exp(%[[X]], %[[E:[0-9]+]])
// CHECK-NEXT: exec.collective all_reduce sum(%[[E]]) by "ring" named "w" : memref<4xf32>
// CHECK-NEXT: exec.collective all_reduce max(%[[S]]) : memref<4xf32>
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
// CHECK-NEXT: exec.collective all_reduce sum(%[[E]]) : memref<4xf32>
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

// Late ones may need each other: the update of a part comes in the end, though other states are set there, and behind it
// what gathers it.
// CHECK-LABEL: exec.program @late_parts
// CHECK: exec.dispatch @first(%{{.*}}, %[[E:[0-9]+]])
// CHECK-NEXT: exec.collective reduce_scatter sum(%[[E]]) to(%[[P:[0-9]+]])
// CHECK-NEXT: exec.dispatch @rest
// CHECK-NEXT: exec.dispatch @update(%{{.*}}, %[[P]], %[[U:[0-9]+]])
// CHECK-NEXT: exec.collective all_gather(%[[U]]) to(%[[W:[0-9]+]])
// CHECK-NEXT: exec.dispatch @use(%[[W]]
nn.param @m = dense<1.0> : tensor<2xf32>
dist.mesh @mesh ["data"] [2]
func.func @late_parts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = nn.get_param @m : tensor<2xf32>
  %y = kernel.dispatch "first" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.exp %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  %p = dist.reduce_scatter sum %y on @mesh ["data"] {dist.late} : tensor<4xf32> -> tensor<2xf32>
  %new = kernel.dispatch "update" (%a = %m : tensor<2xf32>, %b = %p : tensor<2xf32>) -> tensor<2xf32> {
    %v = nn.add %a, %b : tensor<2xf32>, tensor<2xf32>
    kernel.yield %v : tensor<2xf32>
  }
  nn.set_param @m, %new : tensor<2xf32>
  %w = dist.all_gather %new on @mesh ["data"] {dist.late} : tensor<2xf32> -> tensor<4xf32>
  %u = kernel.dispatch "use" (%a = %w : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.cos %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  %z = kernel.dispatch "rest" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = nn.sin %a : tensor<4xf32>
    kernel.yield %e : tensor<4xf32>
  }
  return %z, %u : tensor<4xf32>, tensor<4xf32>
}

// -----

// What gives parts works on its operand, so an input is copied first; what reads it alone takes it as it is. A reshape
// of what is a dispatch's own is that one's buffer.
// CHECK-LABEL: exec.program @parts
// CHECK: %[[X:.*]] = exec.buffer  input[0]
// CHECK: exec.lane
// CHECK-NEXT: exec.copy %[[X]] to %[[C:[0-9]+]]
// CHECK-NEXT: exec.collective reduce_scatter sum(%[[C]]) to(%[[P:[0-9]+]]) named "w" : memref<4x2xf32> to memref<2x2xf32>
// CHECK-NEXT: exec.collective part(%[[X]]) to(%[[Q:[0-9]+]]) : memref<4x2xf32> to memref<2x2xf32>
// CHECK-NEXT: exec.dispatch @add(%[[P]], %[[Q]], %[[A:[0-9]+]])
// CHECK-NEXT: exec.collective all_gather(%[[P]], %[[A]]) to(%[[V:[0-9]+]], %[[W:[0-9]+]]) : memref<2x2xf32>, memref<2x2xf32> to memref<4x2xf32>, memref<4x2xf32>
// CHECK-NEXT: exec.dispatch @exp
// CHECK-NEXT: exec.collective broadcast(%[[E:[0-9]+]]) root 1 : memref<4x2xf32>
// CHECK-NEXT: exec.collective barrier()
dist.mesh @mesh ["data"] [2]
func.func @parts(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>) {
  %p = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<4x2xf32> -> tensor<2x2xf32> loc("w")
  %q = dist.part %x on @mesh ["data"] : tensor<4x2xf32> -> tensor<2x2xf32>
  %a = kernel.dispatch "add" (%b = %p : tensor<2x2xf32>, %c = %q : tensor<2x2xf32>) -> tensor<2x2xf32> {
    %d = nn.add %b, %c : tensor<2x2xf32>, tensor<2x2xf32>
    kernel.yield %d : tensor<2x2xf32>
  }
  %v, %w = dist.all_gather %p, %a on @mesh ["data"] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>, tensor<4x2xf32>
  %y = kernel.dispatch "exp" (%b = %x : tensor<4x2xf32>) -> tensor<4x2xf32> {
    %e = nn.exp %b : tensor<4x2xf32>
    kernel.yield %e : tensor<4x2xf32>
  }
  %f = nn.reshape %y : tensor<4x2xf32> to tensor<8xf32>
  %g = dist.broadcast %f root 1 on @mesh ["data"] : tensor<8xf32>
  dist.barrier on @mesh ["data"]
  return %v, %w, %g : tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>
}

// -----

// Rows that ranks do not share evenly, of the last one, which has none.
// CHECK-LABEL: exec.program @uneven
// CHECK: exec.collective all_gather(%{{.*}}) to(%{{.*}}) units [3] : memref<0x3xf32> to memref<2x3xf32>
dist.mesh @mesh ["data"] [3]
func.func @uneven(%x: tensor<0x3xf32>) -> tensor<2x3xf32> attributes {dist.rank = 2 : i64} {
  %s = dist.all_gather %x on @mesh ["data"] : tensor<0x3xf32> -> tensor<2x3xf32>
  return %s : tensor<2x3xf32>
}

// -----

// Of a part of the ranks: the program says the mesh, and collectives of all ranks name no axes.
// CHECK-LABEL: exec.program @parts
// CHECK-SAME: mesh_axes = ["data", "model"], mesh_sizes = array<i64: 2, 2>, ranks = 4 : i64
// CHECK: exec.collective all_reduce sum(%{{.*}}) over ["data"] : memref<4xf32>
// CHECK: exec.collective reduce_scatter sum(%{{.*}}) to(%{{.*}}) over ["model"] : memref<4xf32> to memref<2xf32>
// CHECK: exec.collective broadcast(%{{.*}}) root 1 over ["data"] : memref<2xf32>
// CHECK: exec.collective all_gather(%{{.*}}) to(%{{.*}}) : memref<2xf32> to memref<8xf32>
dist.mesh @mesh ["data", "model"] [2, 2]
func.func @parts(%x: tensor<4xf32>) -> tensor<8xf32> {
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  %p = dist.reduce_scatter sum %s on @mesh ["model"] : tensor<4xf32> -> tensor<2xf32>
  %b = dist.broadcast %p root 1 on @mesh ["data"] : tensor<2xf32>
  %g = dist.all_gather %b on @mesh ["model", "data"] : tensor<2xf32> -> tensor<8xf32>
  return %g : tensor<8xf32>
}

// -----

// Of rank 3, the second of its column: of three rows it has the last.
// CHECK-LABEL: exec.program @column
// CHECK-SAME: rank = 3 : i64, ranks = 4 : i64
// CHECK: exec.collective all_gather(%{{.*}}) to(%{{.*}}) over ["data"] units [2] : memref<1x2xf32> to memref<3x2xf32>
dist.mesh @mesh ["data", "model"] [2, 2]
func.func @column(%x: tensor<1x2xf32>) -> tensor<3x2xf32> attributes {dist.rank = 3 : i64} {
  %g = dist.all_gather %x on @mesh ["data"] : tensor<1x2xf32> -> tensor<3x2xf32>
  return %g : tensor<3x2xf32>
}

// -----

// Ranks that do nothing together, and what their arrays are pieces of.
// CHECK-LABEL: exec.program @alone
// CHECK-SAME: input_pieces = [array<i64: 4, 2, 2, 0>], mesh_axes = ["data"], mesh_sizes = array<i64: 2>, output_pieces = [array<i64: 4, 2, 2, 0>, array<i64>], rank = 1 : i64, ranks = 2 : i64
dist.mesh @mesh ["data"] [2]
func.func @alone(%x: tensor<2x2xf32> {dist.piece = array<i64: 4, 2, 2, 0>}) -> (tensor<2x2xf32> {dist.piece = array<i64: 4, 2, 2, 0>}, tensor<f32>)
    attributes {dist.rank = 1 : i64, dist.mesh = @mesh} {
  %c = nn.constant dense<1.0> : tensor<f32>
  return %x, %c : tensor<2x2xf32>, tensor<f32>
}

// -----

dist.mesh @mesh ["data", "model"] [2, 1]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is over ["model"] of @mesh, along which there is one rank}}
  %s = dist.all_reduce sum %x on @mesh ["model"] : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data", "model"] [2, 2]
dist.mesh @other ["rows", "columns"] [2, 2]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = dist.all_reduce sum %x on @mesh ["model"] : tensor<4xf32>
  %t = dist.all_reduce sum %s on @other ["columns", "rows"] : tensor<4xf32>
  // expected-error @+1 {{'dist.all_reduce' op is of a part of @other, in a program whose first collective is on another mesh}}
  %u = dist.all_reduce sum %t on @other ["rows"] : tensor<4xf32>
  return %u : tensor<4xf32>
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
