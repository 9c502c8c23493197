// Two kernels of four tiles each, one behind the other, cut by rows.
exec.device @cpu "cpu"
exec.kernel @twice(%x: tensor<65536xf32>) -> tensor<65536xf32> attributes {tiles = 4 : i64, flops = 65536 : i64, bytes = 524288 : i64, ranges = [#exec.tile_range<0 : 0 + 65536 * tile, 65536>, #exec.tile_range<1 : 0 + 65536 * tile, 65536>]} {
  %0 = kernel.dispatch "twice" (%a = %x : tensor<65536xf32>) -> tensor<65536xf32> {
    %1 = nn.add %a, %a : tensor<65536xf32>, tensor<65536xf32>
    kernel.yield %1 : tensor<65536xf32>
  }
  exec.yield %0 : tensor<65536xf32>
}
exec.program @main inputs("x": tensor<65536xf32>) outputs("y": tensor<65536xf32>) arena 262144 {
  %x = exec.buffer input[0] : memref<65536xf32>
  %a = exec.buffer arena at 0 : memref<65536xf32>
  %y = exec.buffer output[0] : memref<65536xf32>
  exec.lane on @cpu {
    exec.dispatch @twice(%x, %a) : memref<65536xf32>, memref<65536xf32>
    exec.dispatch @twice(%a, %y) : memref<65536xf32>, memref<65536xf32>
  }
}
