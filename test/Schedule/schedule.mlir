// RUN: %sprig-opt %s --sprig-schedule --split-input-file | FileCheck %s

// Two equal dispatches share a kernel, though labels differ; a reshape is no command; results go to the outputs by copies.
// CHECK: exec.device @cpu "cpu"
// CHECK: exec.kernel @first(%{{.*}}: tensor<64xf32>) -> tensor<64xf32> attributes {{{.*}}bytes = 512 : i64, flops = 64 : i64
// CHECK: kernel.dispatch "first"
// CHECK: exec.yield
// CHECK-NOT: exec.kernel
// CHECK: exec.program @main inputs("x": tensor<8x8xf32>) outputs("y": tensor<64xf32>, "output1": tensor<64xf32>)
// CHECK: %[[X:.*]] = exec.buffer input[0] named "x" : memref<8x8xf32>
// CHECK: %[[A:.*]] = exec.buffer arena : memref<64xf32>
// CHECK: %[[B:.*]] = exec.buffer arena : memref<64xf32>
// CHECK: %[[Y:.*]] = exec.buffer output[0] named "y" : memref<64xf32>
// CHECK: %[[Z:.*]] = exec.buffer output[1] named "output1" : memref<64xf32>
// CHECK: exec.lane on @cpu
// CHECK-NEXT: exec.dispatch @first(%[[X]], %[[A]]) overwritable [#exec.overwrite<0 by 1>] : memref<8x8xf32>, memref<64xf32>
// CHECK-NEXT: exec.dispatch @first(%[[A]], %[[B]]) overwritable [#exec.overwrite<0 by 1>] : memref<64xf32>, memref<64xf32>
// CHECK-NEXT: exec.copy %[[B]] to %[[Y]]
// CHECK-NEXT: exec.copy %[[A]] to %[[Z]]
// CHECK-NOT: func.func
func.func @main(%x: tensor<8x8xf32> {nn.name = "x"}) -> (tensor<64xf32> {nn.name = "y"}, tensor<64xf32>) {
  %0 = nn.reshape %x : tensor<8x8xf32> to tensor<64xf32>
  %1 = kernel.dispatch "first" (%a = %0 : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.relu %a : tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  %2 = kernel.dispatch "second" (%a = %1 : tensor<64xf32>) -> tensor<64xf32> {
    %v = nn.relu %a : tensor<64xf32>
    kernel.yield %v : tensor<64xf32>
  }
  return %2, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// Parameters are state that entries share, constants bytes of the package, each once.
// CHECK: exec.constant @[[C:.*]] = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NOT: exec.constant
// CHECK: exec.program @one
// CHECK: exec.buffer state @w named "w" : memref<2xf32>
// CHECK: exec.buffer constant @[[C]] : memref<2xf32>
// CHECK: exec.program @two
// CHECK: exec.buffer state @w named "w" : memref<2xf32>
// CHECK: exec.buffer constant @[[C]] : memref<2xf32>
// CHECK: nn.param @w
func.func @one() -> (tensor<2xf32>, tensor<2xf32>) {
  %w = nn.get_param @w : tensor<2xf32>
  %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %w, %c : tensor<2xf32>, tensor<2xf32>
}
func.func @two() -> (tensor<2xf32>, tensor<2xf32>) {
  %w = nn.get_param @w : tensor<2xf32>
  %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %w, %c : tensor<2xf32>, tensor<2xf32>
}
nn.param @w = dense<3.0> : tensor<2xf32>

// -----

// Nothing to compute: no command, and no copy of no bytes.
// CHECK: exec.program @main
// CHECK: exec.lane on @cpu {
// CHECK-NEXT: }
func.func @main(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<0x4xf32>) -> tensor<0x4xf32> {
    %v = nn.relu %a : tensor<0x4xf32>
    kernel.yield %v : tensor<0x4xf32>
  }
  return %0 : tensor<0x4xf32>
}

// -----

// Entries of several sizes keep their common name.
// CHECK: exec.program @main_batch1 {{.*}} independent_samples attributes {entry = "main"}
func.func @main_batch1(%x: tensor<1x4xf32>) -> tensor<1x4xf32> attributes {nn.entry = "main", nn.independent_samples} {
  return %x : tensor<1x4xf32>
}

// -----

// Two devices: each has a lane, and one for what it copies to the other; kernels are shared. What the other needs is copied
// when it was computed, while the device that has it goes on; inputs and constants are on both. A state lives on its
// home, where its new value is copied to.
// CHECK-DAG: exec.device @cpu0 "cpu"
// CHECK-DAG: exec.device @null1 "null" ordinal 1
// CHECK: exec.kernel @relu
// CHECK-NOT: kernel.device
// CHECK: exec.program @placed
// CHECK-DAG: %[[X:.*]] = exec.buffer input[0] named "x" : memref<4xf32>
// CHECK-DAG: %[[X1:.*]] = exec.buffer input[0] on @null1 named "x" : memref<4xf32>
// CHECK-DAG: %[[W:.*]] = exec.buffer state @w on @null1 named "w" : memref<4xf32>
// CHECK-DAG: %[[W0:.*]] = exec.buffer arena named "w" : memref<4xf32>
// CHECK-DAG: %[[A1:.*]] = exec.buffer arena on @null1 named "a" : memref<4xf32>
// CHECK: exec.lane on @cpu0 {
// CHECK-NEXT: exec.dispatch @relu(%[[X]], %[[A:[^)]*]])
// CHECK-NEXT: exec.record [[COMPUTED:[0-9]+]]
// CHECK-NEXT: exec.wait [[STATE:[0-9]+]]
// CHECK-NEXT: exec.dispatch @add(%[[A]], %[[W0]], %[[C:[^)]*]])
// CHECK-NEXT: exec.copy %[[C]] to %{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: exec.lane on @null1 {
// CHECK-NEXT: exec.wait [[COPIED:[0-9]+]]
// The new value may be written over the old one, which was copied by then.
// CHECK-NEXT: exec.wait [[STATE]]
// CHECK-NEXT: exec.dispatch @add(%[[A1]], %[[X1]], %[[B:[^)]*]])
// CHECK-NEXT: exec.copy %[[B]] to %{{.*}}
// CHECK-NEXT: exec.copy %[[B]] to %{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: exec.lane on @null1 {
// CHECK-NEXT: exec.copy %[[W]] to %[[W0]]
// CHECK-NEXT: exec.record [[STATE]]
// CHECK-NEXT: }
// CHECK-NEXT: exec.lane on @cpu0 {
// CHECK-NEXT: exec.wait [[COMPUTED]]
// CHECK-NEXT: exec.copy %[[A]] to %[[A1]]
// CHECK-NEXT: exec.record [[COPIED]]
// CHECK-NEXT: }
module attributes {kernel.devices = ["cpu:0", "null:1"]} {
  nn.param @w {kernel.device = 1 : i64} = dense<1.0> : tensor<4xf32>
  func.func @placed(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
    %w = nn.get_param @w : tensor<4xf32>
    %0 = kernel.dispatch "relu" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %v = nn.relu %a : tensor<4xf32>
      kernel.yield %v : tensor<4xf32>
    } loc("a")
    %1 = kernel.dispatch "add" (%a = %0 : tensor<4xf32>, %b = %x : tensor<4xf32>) -> tensor<4xf32> attributes {kernel.device = 1 : i64} {
      %v = nn.add %a, %b : tensor<4xf32>, tensor<4xf32>
      kernel.yield %v : tensor<4xf32>
    }
    %2 = kernel.dispatch "add" (%a = %0 : tensor<4xf32>, %b = %w : tensor<4xf32>) -> tensor<4xf32> {
      %v = nn.add %a, %b : tensor<4xf32>, tensor<4xf32>
      kernel.yield %v : tensor<4xf32>
    }
    nn.set_param @w, %1 : tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
}
