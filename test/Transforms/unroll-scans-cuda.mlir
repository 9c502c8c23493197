// Which loops over time are one kernel on a GPU, and which are spelled out.
// RUN: %sprig-opt %s --split-input-file --sprig-unroll-scans=target=cuda | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-unroll-scans=target=cuda -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// CHECK-LABEL: func.func @layer(
// CHECK: nn.scan steps = 100
func.func @layer(%x: tensor<100x16x128xf32>, %h: tensor<16x128xf32>, %w: tensor<128x128xf32>) -> (tensor<16x128xf32>, tensor<100x16x128xf32>) {
  %0:2 = nn.scan steps = 100 over (%t = %x : tensor<100x16x128xf32>) carry (%s = %h : tensor<16x128xf32>) with (%v = %w : tensor<128x128xf32>) -> (tensor<16x128xf32>, tensor<100x16x128xf32>) {
    %1 = nn.matmul %s, %v {transpose_rhs} : tensor<16x128xf32>, tensor<128x128xf32>
    %2 = nn.add %1, %t : tensor<16x128xf32>, tensor<16x128xf32>
    %3 = nn.tanh %2 : tensor<16x128xf32>
    nn.yield %3, %3 : tensor<16x128xf32>, tensor<16x128xf32>
  }
  return %0#0, %0#1 : tensor<16x128xf32>, tensor<100x16x128xf32>
}

// -----

// A matrix that one multiprocessor would read for longer than launches take.
// REMARK: remark: {{.*}}a loop of 2 steps is unrolled: a step of 4194304 bytes of matrices and 1 rows is sooner done by kernels of its own
// CHECK-LABEL: func.func @large(
// CHECK-NOT: nn.scan
// CHECK-COUNT-2: nn.matmul
func.func @large(%h: tensor<1x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1x1024xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<1x1024xf32>) with (%v = %w : tensor<1024x1024xf32>) -> tensor<1x1024xf32> {
    %1 = nn.matmul %s, %v : tensor<1x1024xf32>, tensor<1024x1024xf32>
    %2 = nn.tanh %1 : tensor<1x1024xf32>
    nn.yield %2 : tensor<1x1024xf32>
  }
  return %0 : tensor<1x1024xf32>
}

// -----

// Rows enough for products by tiles.
// REMARK: remark: {{.*}}a loop of 2 steps is unrolled: a step of 4096 bytes of matrices and 65536 rows is sooner done by kernels of its own
// CHECK-LABEL: func.func @many(
// CHECK-NOT: nn.scan
// CHECK-COUNT-2: nn.matmul
func.func @many(%h: tensor<65536x32xf32>, %w: tensor<32x32xf32>) -> tensor<65536x32xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<65536x32xf32>) with (%v = %w : tensor<32x32xf32>) -> tensor<65536x32xf32> {
    %1 = nn.matmul %s, %v : tensor<65536x32xf32>, tensor<32x32xf32>
    %2 = nn.tanh %1 : tensor<65536x32xf32>
    nn.yield %2 : tensor<65536x32xf32>
  }
  return %0 : tensor<65536x32xf32>
}

// -----

// REMARK: remark: {{.*}}a loop of 2 steps is unrolled: a step keeps 65536 bytes of a row, which shared memory does not hold
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: nn.scan
func.func @wide(%h: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<1x8192xf32>) -> tensor<1x8192xf32> {
    %1 = nn.tanh %s : tensor<1x8192xf32>
    nn.yield %1 : tensor<1x8192xf32>
  }
  return %0 : tensor<1x8192xf32>
}

// -----

// REMARK: remark: {{.*}}a loop of 2 steps is unrolled: its step holds 'nn.reduce' of a form that no kernel of rows computes
// CHECK-LABEL: func.func @mixed(
// CHECK-NOT: nn.scan
func.func @mixed(%h: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<3x4xf32>) -> tensor<3x4xf32> {
    %1 = nn.reduce sum %s axes = [0] {keep_dims} : tensor<3x4xf32>
    %2 = nn.mul %s, %1 : tensor<3x4xf32>, tensor<1x4xf32>
    nn.yield %2 : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}
