// RUN: sprig-opt %s --sprig-place="devices=cpu:0,cuda:0 target=cpu+cuda architectures=x86-64-v3,sm_90 threads=1" --split-input-file | FileCheck %s
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,null:0 target=cpu+cuda" --split-input-file 2>&1 | FileCheck %s --check-prefix=KIND

// Devices of two kinds: what goes to the GPU and comes back counts, and so does handing a kernel over.
// KIND: error: device 'null:0': nothing there runs code for cpu or cuda; expected cpu:N or cuda:N

// Copies of 20 us do not pay for a product of one.
// CHECK-LABEL: func.func @small
// CHECK-NOT: kernel.device
// CHECK: return
func.func @small(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %0 = nn.matmul %x, %w : tensor<16x64xf32>, tensor<64x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

// CHECK-LABEL: func.func @large
// CHECK: nn.matmul {{.*}} {kernel.device = 1 : i64}
// CHECK-NEXT: nn.relu {{.*}} {kernel.device = 1 : i64}
func.func @large(%x: tensor<1024x512xf32>, %w: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = nn.matmul %x, %w : tensor<1024x512xf32>, tensor<512x1024xf32>
  %1 = nn.relu %0 : tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}

// -----

// Elements that are read and written once take longer over the link than here.
// CHECK-LABEL: func.func @elements
// CHECK-NOT: kernel.device = 1
// CHECK: return
func.func @elements(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = nn.relu %x : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// A convolution that nothing has laid out for the processor is loops there.
// CHECK-LABEL: func.func @convolution
// CHECK: nn.conv {{.*}}kernel.device = 1
func.func @convolution(%x: tensor<1x16x16x16xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x14x14xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>
  return %0 : tensor<1x16x14x14xf32>
}
