// Kernels of several tiles, of all kinds that say what these touch, and of some that cannot.
func.func @elementwise(%x: tensor<3x5x10001xf32>, %y: tensor<3x1x10001xf32>, %z: tensor<10001xf32>) -> (tensor<3x5x10001xf32>, tensor<3x5x10001xf32>) {
  %0 = nn.add %x, %y : tensor<3x5x10001xf32>, tensor<3x1x10001xf32>
  %1 = nn.mul %0, %z : tensor<3x5x10001xf32>, tensor<10001xf32>
  return %0, %1 : tensor<3x5x10001xf32>, tensor<3x5x10001xf32>
}
func.func @half(%x: tensor<70001xf16>, %y: tensor<70001xf16>) -> tensor<70001xf16> {
  %0 = nn.add %x, %y : tensor<70001xf16>, tensor<70001xf16>
  return %0 : tensor<70001xf16>
}
func.func @softmax(%x: tensor<7x130x131xf32>) -> tensor<7x130x131xf32> {
  %0 = nn.softmax %x axis = 2 : tensor<7x130x131xf32>
  return %0 : tensor<7x130x131xf32>
}
func.func @rows(%x: tensor<900x140xf32>, %y: tensor<900x1xf32>) -> (tensor<900xf32>, tensor<900x140xf32>) {
  %0 = nn.mul %x, %y : tensor<900x140xf32>, tensor<900x1xf32>
  %1 = nn.reduce sum %0 axes = [1] : tensor<900x140xf32>
  return %1, %0 : tensor<900xf32>, tensor<900x140xf32>
}
func.func @columns(%x: tensor<300x700xf32>) -> tensor<700xf32> {
  %0 = nn.reduce sum %x axes = [0] : tensor<300x700xf32>
  return %0 : tensor<700xf32>
}
func.func @middle(%x: tensor<9x64x501xf32>) -> (tensor<9x501xf32>, tensor<9x1x501xf32>) {
  %0 = nn.reduce max %x axes = [1] : tensor<9x64x501xf32>
  %1 = nn.reduce sum %x axes = [1] {keep_dims} : tensor<9x64x501xf32>
  return %0, %1 : tensor<9x501xf32>, tensor<9x1x501xf32>
}
func.func @product(%x: tensor<3000x700xf32>, %w: tensor<700x20xf32>, %r: tensor<3000x20xf32>) -> tensor<3000x20xf32> {
  %0 = nn.matmul %x, %w : tensor<3000x700xf32>, tensor<700x20xf32>
  %1 = nn.add %0, %r : tensor<3000x20xf32>, tensor<3000x20xf32>
  return %1 : tensor<3000x20xf32>
}
func.func @products(%x: tensor<2x3x200x64xf32>, %w: tensor<2x3x50x64xf32>, %v: tensor<3x64x70xf32>) -> (tensor<2x3x200x50xf32>, tensor<2x3x200x70xf32>) {
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<2x3x200x64xf32>, tensor<2x3x50x64xf32>
  %1 = nn.matmul %x, %v : tensor<2x3x200x64xf32>, tensor<3x64x70xf32>
  return %0, %1 : tensor<2x3x200x50xf32>, tensor<2x3x200x70xf32>
}
func.func @packed(%x: tensor<2001x300xf32>, %r: tensor<2001x40xf32>, %v: tensor<1x700xf32>) -> (tensor<2001x40xf32>, tensor<1x1000xf32>) {
  %w = nn.constant dense<0.5> : tensor<300x40xf32>
  %b = nn.constant dense<0.5> : tensor<40xf32>
  %m = nn.constant dense<0.5> : tensor<700x1000xf32>
  %0 = nn.matmul %x, %w : tensor<2001x300xf32>, tensor<300x40xf32>
  %1 = nn.add %0, %b : tensor<2001x40xf32>, tensor<40xf32>
  %2 = nn.mul %1, %r : tensor<2001x40xf32>, tensor<2001x40xf32>
  %3 = nn.matmul %v, %m : tensor<1x700xf32>, tensor<700x1000xf32>
  return %2, %3 : tensor<2001x40xf32>, tensor<1x1000xf32>
}
func.func @convolutions(%x: tensor<2x16x57x56xf32>) -> (tensor<2x24x57x56xf32>, tensor<2x24x29x28xf32>, tensor<2x40x57x56xf32>, tensor<2x16x57x56xf32>) {
  %w = nn.constant dense<0.5> : tensor<24x16x3x3xf32>
  %p = nn.constant dense<0.5> : tensor<40x16x1x1xf32>
  %d = nn.constant dense<0.5> : tensor<16x1x3x3xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x16x57x56xf32>, tensor<24x16x3x3xf32>
  %1 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x16x57x56xf32>, tensor<24x16x3x3xf32>
  %2 = nn.conv %x, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<2x16x57x56xf32>, tensor<40x16x1x1xf32>
  %3 = nn.conv %x, %d {groups = 16 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x16x57x56xf32>, tensor<16x1x3x3xf32>
  return %0, %1, %2, %3 : tensor<2x24x57x56xf32>, tensor<2x24x29x28xf32>, tensor<2x40x57x56xf32>, tensor<2x16x57x56xf32>
}
func.func @one_sample(%x: tensor<1x48x61x60xf32>) -> (tensor<1x24x61x60xf32>, tensor<1x48x61x60xf32>) {
  %w = nn.constant dense<0.5> : tensor<24x48x3x3xf32>
  %d = nn.constant dense<0.5> : tensor<48x1x5x5xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, padding = array<i64: 2, 2, 2, 2>} : tensor<1x48x61x60xf32>, tensor<24x48x3x3xf32>
  %1 = nn.conv %x, %d {groups = 48 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 2, 2, 2, 2>} : tensor<1x48x61x60xf32>, tensor<48x1x5x5xf32>
  return %0, %1 : tensor<1x24x61x60xf32>, tensor<1x48x61x60xf32>
}
func.func @volumes(%x: tensor<2x8x20x24x24xf32>) -> tensor<2x8x20x24x24xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3x3xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, padding = array<i64: 1, 1, 1, 1, 1, 1>} : tensor<2x8x20x24x24xf32>, tensor<8x8x3x3x3xf32>
  return %0 : tensor<2x8x20x24x24xf32>
}
func.func @many_samples(%x: tensor<300x32x6x6xf32>) -> tensor<300x32x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<300x32x6x6xf32>, tensor<32x32x3x3xf32>
  return %0 : tensor<300x32x6x6xf32>
}
func.func @pools(%x: tensor<3x70x40x40xf32>, %g: tensor<3x70x20x20xf32>) -> (tensor<3x70x20x20xf32>, tensor<3x70x40x40xf32>) {
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x70x40x40xf32>
  %1 = nn.pool_grad max %x, %g {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x70x40x40xf32>, tensor<3x70x20x20xf32>
  return %0, %1 : tensor<3x70x20x20xf32>, tensor<3x70x40x40xf32>
}
func.func @moves(%x: tensor<5x100x130xf32>) -> (tensor<5x130x100xf32>, tensor<130x5x100xf32>, tensor<5x102x130xf32>, tensor<5x100x140xf32>, tensor<10x100x130xf32>) {
  %z = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.transpose %x [0, 2, 1] : tensor<5x100x130xf32>
  %1 = nn.transpose %x [2, 0, 1] : tensor<5x100x130xf32>
  %2 = nn.pad constant %x, %z low = [0, 1, 0] high = [0, 1, 0] : tensor<5x100x130xf32>, tensor<f32>
  %3 = nn.pad constant %x, %z low = [0, 0, 3] high = [0, 0, 7] : tensor<5x100x130xf32>, tensor<f32>
  %4 = nn.concat %x, %x axis = 0 : tensor<5x100x130xf32>, tensor<5x100x130xf32>
  return %0, %1, %2, %3, %4 : tensor<5x130x100xf32>, tensor<130x5x100xf32>, tensor<5x102x130xf32>, tensor<5x100x140xf32>, tensor<10x100x130xf32>
}
func.func @searches(%x: tensor<5x100x130xf32>) -> (tensor<5x100x130xf32>, tensor<5x130xi64>, tensor<5x100xi64>, tensor<5x4x130xf32>) {
  %0 = nn.cumulative sum %x axis = 1 : tensor<5x100x130xf32>
  %1 = nn.arg_reduce max %x axis = 1 : tensor<5x100x130xf32>
  %2 = nn.arg_reduce max %x axis = 2 : tensor<5x100x130xf32>
  %3:2 = nn.top_k %x {k = 4 : i64, axis = 1 : i64} : tensor<5x100x130xf32>
  return %0, %1, %2, %3#0 : tensor<5x100x130xf32>, tensor<5x130xi64>, tensor<5x100xi64>, tensor<5x4x130xf32>
}
func.func @turned(%x: tensor<17x8x3x3xf32>) -> tensor<8x3x17x3xf32> {
  %0 = nn.transpose %x [1, 3, 0, 2] : tensor<17x8x3x3xf32>
  return %0 : tensor<8x3x17x3xf32>
}
func.func @attention(%q: tensor<2x150x4x32xf32>, %k: tensor<2x150x4x32xf32>, %v: tensor<2x150x4x32xf32>) -> tensor<2x150x128xf32> {
  %0 = nn.transpose %q [0, 2, 1, 3] : tensor<2x150x4x32xf32>
  %1 = nn.transpose %k [0, 2, 3, 1] : tensor<2x150x4x32xf32>
  %2 = nn.transpose %v [0, 2, 1, 3] : tensor<2x150x4x32xf32>
  %3 = nn.matmul %0, %1 : tensor<2x4x150x32xf32>, tensor<2x4x32x150xf32>
  %4 = nn.softmax %3 axis = 3 : tensor<2x4x150x150xf32>
  %5 = nn.matmul %4, %2 : tensor<2x4x150x150xf32>, tensor<2x4x150x32xf32>
  %6 = nn.transpose %5 [0, 2, 1, 3] : tensor<2x4x150x32xf32>
  %7 = nn.reshape %6 : tensor<2x150x4x32xf32> to tensor<2x150x128xf32>
  return %7 : tensor<2x150x128xf32>
}
func.func @bytes(%x: tensor<2x57x56x96xui8>) -> (tensor<2x96x57x56xi32>, tensor<2x96x29x28xi32>, tensor<2x29x28x96xui8>) {
  %y = nn.transpose %x [0, 3, 1, 2] : tensor<2x57x56x96xui8>
  %w = nn.constant dense<2> : tensor<96x1x3x3xi8>
  %z = nn.constant dense<7> : tensor<ui8>
  %n = nn.constant dense<0> : tensor<i8>
  %0 = nn.conv_integer %y, %w, %z, %n {groups = 96 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x96x57x56xui8>, tensor<96x1x3x3xi8>, tensor<ui8>, tensor<i8>
  %1 = nn.conv_integer %y, %w, %z, %n {groups = 96 : i64, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x96x57x56xui8>, tensor<96x1x3x3xi8>, tensor<ui8>, tensor<i8>
  %2 = nn.pool max %x {channels_last, window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<2x57x56x96xui8>
  return %0, %1, %2 : tensor<2x96x57x56xi32>, tensor<2x96x29x28xi32>, tensor<2x29x28x96xui8>
}
