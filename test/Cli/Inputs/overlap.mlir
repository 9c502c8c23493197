// A worker computes four pieces of a result, and sends each to the host while it computes the next one.
exec.device @host "cpu"
exec.device @worker "cpu" ordinal 1
exec.kernel @square(%x: tensor<250000xf32>) -> tensor<250000xf32> attributes {tiles = 16 : i64, grain = 16 : i64, ranges = [#exec.tile_range<0 : 0 + 65536 * tile, 65536>, #exec.tile_range<1 : 0 + 65536 * tile, 65536>], flops = 20000000 : i64, bytes = 2000000 : i64} {
  %0 = kernel.dispatch "square" (%a = %x : tensor<250000xf32>) -> tensor<250000xf32> {
    %1 = nn.mul %a, %a : tensor<250000xf32>, tensor<250000xf32>
    kernel.yield %1 : tensor<250000xf32>
  }
  exec.yield %0 : tensor<250000xf32>
}
exec.program @main inputs("x": tensor<250000xf32>)
    outputs("y0": tensor<250000xf32>, "y1": tensor<250000xf32>, "y2": tensor<250000xf32>, "y3": tensor<250000xf32>) arena 0, 4000000 {
  %x = exec.buffer input[0] on @worker : memref<250000xf32>
  %p0 = exec.buffer arena on @worker at 0 : memref<250000xf32>
  %p1 = exec.buffer arena on @worker at 1000000 : memref<250000xf32>
  %p2 = exec.buffer arena on @worker at 2000000 : memref<250000xf32>
  %p3 = exec.buffer arena on @worker at 3000000 : memref<250000xf32>
  %y0 = exec.buffer output[0] on @host : memref<250000xf32>
  %y1 = exec.buffer output[1] on @host : memref<250000xf32>
  %y2 = exec.buffer output[2] on @host : memref<250000xf32>
  %y3 = exec.buffer output[3] on @host : memref<250000xf32>
  exec.lane on @worker {
    exec.dispatch @square(%x, %p0) named "piece 0" : memref<250000xf32>, memref<250000xf32>
    exec.record 0
    exec.dispatch @square(%x, %p1) named "piece 1" : memref<250000xf32>, memref<250000xf32>
    exec.record 1
    exec.dispatch @square(%x, %p2) named "piece 2" : memref<250000xf32>, memref<250000xf32>
    exec.record 2
    exec.dispatch @square(%x, %p3) named "piece 3" : memref<250000xf32>, memref<250000xf32>
    exec.record 3
  }
  exec.lane on @worker {
    exec.wait 0
    exec.copy %p0 to %y0 : memref<250000xf32> to memref<250000xf32>
    exec.wait 1
    exec.copy %p1 to %y1 : memref<250000xf32> to memref<250000xf32>
    exec.wait 2
    exec.copy %p2 to %y2 : memref<250000xf32> to memref<250000xf32>
    exec.wait 3
    exec.copy %p3 to %y3 : memref<250000xf32> to memref<250000xf32>
  }
}
