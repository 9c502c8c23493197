// Loops over time that the target has no kernel for become their steps.
// RUN: %sprig-opt %s --split-input-file --sprig-unroll-scans | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-unroll-scans=all | FileCheck %s --check-prefix=ALL
// RUN: %sprig-opt %s --split-input-file --sprig-unroll-scans -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not %sprig-opt %s --split-input-file --sprig-unroll-scans=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: there is no target 'abacus'; the targets are cpu, cuda

// CHECK-LABEL: func.func @packed(
// CHECK: nn.scan steps = 3 reverse
// ALL-LABEL: func.func @packed(
// ALL-NOT: nn.scan
// ALL: nn.slice %{{.*}} starts = [2, 0, 0]
// ALL-COUNT-2: nn.matmul
// ALL: nn.slice %{{.*}} starts = [1, 0, 0]
// ALL-COUNT-2: nn.matmul
// ALL: nn.slice %{{.*}} starts = [0, 0, 0]
// ALL-COUNT-2: nn.matmul
// ALL-NOT: nn.matmul
// ALL: nn.concat %[[R:.*]], %{{.*}}, %{{.*}} axis = 0
func.func @packed(%x: tensor<3x2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<3x2x4xf32>) {
  %k = nn.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<4x4xf32>
  %0:2 = nn.scan steps = 3 reverse over (%t = %x : tensor<3x2x4xf32>) carry (%s = %h : tensor<2x4xf32>) with (%v = %w : tensor<4x4xf32>, %m = %k : tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<3x2x4xf32>) {
    %1 = nn.matmul %s, %v {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
    %2 = nn.add %1, %t : tensor<2x4xf32>, tensor<2x4xf32>
    %3 = nn.matmul %2, %m : tensor<2x4xf32>, tensor<4x4xf32>
    nn.yield %3, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<3x2x4xf32>
}

// -----

// Rows that meet each other: no kernel of rows.
// REMARK: a loop of 2 steps is unrolled: its step holds 'nn.reduce' of a form that no kernel of rows computes
// CHECK-LABEL: func.func @mixed(
// CHECK-NOT: nn.scan
// CHECK-COUNT-2: nn.reduce
// CHECK-NOT: nn.reduce
func.func @mixed(%h: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<3x4xf32>) -> tensor<3x4xf32> {
    %1 = nn.reduce sum %s axes = [0] {keep_dims} : tensor<3x4xf32>
    %2 = nn.mul %s, %1 : tensor<3x4xf32>, tensor<1x4xf32>
    nn.yield %2 : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}
