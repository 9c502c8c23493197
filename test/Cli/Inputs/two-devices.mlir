exec.device @d0 "cpu"
exec.device @d1 "cpu" ordinal 1
exec.constant @bias = dense<[1.0, -2.0, 3.0, -4.0]> : tensor<4xf32>
exec.kernel @shift(%x: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
  %0 = kernel.dispatch "shift" (%a = %x : tensor<4xf32>, %b = %bias : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.add %a, %b : tensor<4xf32>, tensor<4xf32>
    kernel.yield %1 : tensor<4xf32>
  }
  exec.yield %0 : tensor<4xf32>
}
exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>, "z": tensor<4xf32>) arena 64, 128 {
  %x = exec.buffer input[0] on @d0 : memref<4xf32>
  %here = exec.buffer constant @bias on @d0 : memref<4xf32>
  %there = exec.buffer constant @bias on @d1 : memref<4xf32>
  %t = exec.buffer arena on @d0 at 0 : memref<4xf32>
  %u = exec.buffer arena on @d1 at 0 : memref<4xf32>
  %v = exec.buffer arena on @d1 at 64 : memref<4xf32>
  %y = exec.buffer output[0] on @d0 : memref<4xf32>
  %z = exec.buffer output[1] on @d1 : memref<4xf32>
  exec.lane on @d0 {
    exec.dispatch @shift(%x, %here, %t) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    exec.copy %t to %u : memref<4xf32> to memref<4xf32>
    exec.record 0
    exec.wait 1
    exec.copy %v to %y : memref<4xf32> to memref<4xf32>
  }
  exec.lane on @d1 {
    exec.wait 0
    exec.dispatch @shift(%u, %there, %v) : memref<4xf32>, memref<4xf32>, memref<4xf32>
    exec.record 1
    exec.copy %v to %z : memref<4xf32> to memref<4xf32>
  }
}
