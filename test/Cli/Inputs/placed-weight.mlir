// A parameter on one device that one entry sets and the other one reads on another device.
nn.param @w {nn.place = "cpu:0"} = dense<0.5> : tensor<16x16xf32>

func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {nn.entry = "main"} {
  %w = nn.get_param @w : tensor<16x16xf32>
  %0 = nn.relu %x {nn.place = "cpu:0"} : tensor<16x16xf32>
  // What the warning is about.
  %1 = nn.matmul %0, %w {nn.place = "cpu:1"} : tensor<16x16xf32>, tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

func.func @set(%x: tensor<16x16xf32>) attributes {nn.entry = "set"} {
  nn.set_param @w, %x : tensor<16x16xf32>
  return
}
