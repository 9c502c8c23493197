// RUN: %sprig-opt %s --split-input-file --sprig-inline-dispatches=target=cuda | FileCheck %s

// On a GPU a dispatch joins others where one block has few turns of it, however many blocks it has alone.
exec.device @gpu "cuda"
exec.kernel @relu(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {tiles = 4 : i64, flops = 1024 : i64, bytes = 8192 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<1024xf32>) -> tensor<1024xf32> {
    %1 = nn.relu %a : tensor<1024xf32>
    kernel.yield %1 : tensor<1024xf32>
  }
  exec.yield %0 : tensor<1024xf32>
}
// CHECK-LABEL: exec.kernel @few_network
// CHECK-SAME: places = array<i64: 0>
// CHECK: exec.program @few
// CHECK: exec.dispatch @few_network
// CHECK-NOT: exec.dispatch @relu
exec.program @few inputs("x": tensor<1024xf32>) outputs("y": tensor<1024xf32>) {
  %x = exec.buffer input[0] : memref<1024xf32>
  %t = exec.buffer arena : memref<1024xf32>
  %y = exec.buffer output[0] : memref<1024xf32>
  exec.lane on @gpu {
    exec.dispatch @relu(%x, %t) : memref<1024xf32>, memref<1024xf32>
    exec.dispatch @relu(%t, %y) : memref<1024xf32>, memref<1024xf32>
  }
}

// -----

exec.device @gpu "cuda"
exec.kernel @relu(%x: tensor<1025xf32>) -> tensor<1025xf32> attributes {tiles = 5 : i64, flops = 1025 : i64, bytes = 8200 : i64} {
  %0 = kernel.dispatch "relu" (%a = %x : tensor<1025xf32>) -> tensor<1025xf32> {
    %1 = nn.relu %a : tensor<1025xf32>
    kernel.yield %1 : tensor<1025xf32>
  }
  exec.yield %0 : tensor<1025xf32>
}
// CHECK: exec.program @many
// CHECK-COUNT-2: exec.dispatch @relu
exec.program @many inputs("x": tensor<1025xf32>) outputs("y": tensor<1025xf32>) {
  %x = exec.buffer input[0] : memref<1025xf32>
  %t = exec.buffer arena : memref<1025xf32>
  %y = exec.buffer output[0] : memref<1025xf32>
  exec.lane on @gpu {
    exec.dispatch @relu(%x, %t) : memref<1025xf32>, memref<1025xf32>
    exec.dispatch @relu(%t, %y) : memref<1025xf32>, memref<1025xf32>
  }
}
