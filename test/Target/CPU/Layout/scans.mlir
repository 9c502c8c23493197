// RUN: %sprig-opt %s --split-input-file --sprig-scans | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-scans=products=false | FileCheck %s --check-prefix=APART

// A constant matrix is packed at once, one that is not in front of the loop; what nothing reads any more goes.
// CHECK-LABEL: func.func @packed(
// CHECK-DAG: %[[K:.*]] = nn.constant dense<{{.*}}> : tensor<1x4x32xf32>
// CHECK-DAG: %[[P:.*]] = kernel.pack %{{.*}} {transposed} : tensor<4x4xf32>
// CHECK: nn.scan steps = 3 reverse over (%{{.*}} = %{{.*}} : tensor<3x2x4xf32>) carry (%[[S:.*]] = %{{.*}} : tensor<2x4xf32>) with (%[[A:.*]] = %[[P]] : tensor<1x4x32xf32>, %[[B:.*]] = %[[K]] : tensor<1x4x32xf32>)
// CHECK: kernel.matmul_packed %[[S]], %[[A]] {columns = 4 : i64}
// CHECK: kernel.matmul_packed %{{.*}}, %[[B]] {columns = 4 : i64}
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

// Rows that meet each other: no kernel of rows, so nothing to pack.
// CHECK-LABEL: func.func @mixed(
// CHECK: nn.scan
// CHECK-NOT: kernel.pack
func.func @mixed(%h: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.scan steps = 2 carry (%s = %h : tensor<3x4xf32>) -> tensor<3x4xf32> {
    %1 = nn.reduce sum %s axes = [0] {keep_dims} : tensor<3x4xf32>
    %2 = nn.mul %s, %1 : tensor<3x4xf32>, tensor<1x4xf32>
    nn.yield %2 : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}

// -----

// Of 16 rows products of inputs, and what is added to them, are each step's own. Not of fewer, nor where something else
// reads them, nor where they are cut into several chains.
// CHECK-LABEL: func.func @inputs(
// CHECK-NOT: nn.matmul %arg0
// CHECK: nn.scan steps = 3 over (%[[X:.*]] = %arg0 : tensor<3x16x5xf32>) carry (%{{.*}} = %arg1 : tensor<16x4xf32>) with (%[[B:.*]] = %arg4 : tensor<4xf32>, %[[W:.*]] = %{{.*}} : tensor<1x5x32xf32>, %[[V:.*]] = %{{.*}} : tensor<1x4x32xf32>)
// CHECK: %[[P:.*]] = kernel.matmul_packed %[[X]], %[[W]] {columns = 4 : i64}
// CHECK: nn.add %[[P]], %[[B]] : tensor<16x4xf32>, tensor<4xf32>
// APART-LABEL: func.func @inputs(
// APART: nn.matmul %arg0
// APART: nn.scan
func.func @inputs(%x: tensor<3x16x5xf32>, %h: tensor<16x4xf32>, %w: tensor<4x5xf32>, %v: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<16x4xf32> {
  %p = nn.matmul %x, %w {transpose_rhs} : tensor<3x16x5xf32>, tensor<4x5xf32>
  %q = nn.add %p, %b : tensor<3x16x4xf32>, tensor<4xf32>
  %0 = nn.scan steps = 3 over (%t = %q : tensor<3x16x4xf32>) carry (%s = %h : tensor<16x4xf32>) with (%m = %v : tensor<4x4xf32>) -> tensor<16x4xf32> {
    %1 = nn.matmul %s, %m : tensor<16x4xf32>, tensor<4x4xf32>
    %2 = nn.add %1, %t : tensor<16x4xf32>, tensor<16x4xf32>
    nn.yield %2 : tensor<16x4xf32>
  }
  return %0 : tensor<16x4xf32>
}

// -----

// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-3: nn.matmul %{{.*}}, %{{.*}}
// CHECK-COUNT-3: nn.scan
func.func @apart(%x: tensor<3x15x5xf32>, %h: tensor<15x4xf32>, %w: tensor<5x4xf32>, %y: tensor<3x16x5xf32>, %g: tensor<16x4xf32>, %z: tensor<3x16x1025xf32>, %u: tensor<1025x4xf32>) -> (tensor<15x4xf32>, tensor<16x4xf32>, tensor<3x16x4xf32>, tensor<16x4xf32>) {
  %few = nn.matmul %x, %w : tensor<3x15x5xf32>, tensor<5x4xf32>
  %read = nn.matmul %y, %w : tensor<3x16x5xf32>, tensor<5x4xf32>
  %long = nn.matmul %z, %u : tensor<3x16x1025xf32>, tensor<1025x4xf32>
  %0 = nn.scan steps = 3 over (%t = %few : tensor<3x15x4xf32>) carry (%s = %h : tensor<15x4xf32>) -> tensor<15x4xf32> {
    %n = nn.add %s, %t : tensor<15x4xf32>, tensor<15x4xf32>
    nn.yield %n : tensor<15x4xf32>
  }
  %1 = nn.scan steps = 3 over (%t = %read : tensor<3x16x4xf32>) carry (%s = %g : tensor<16x4xf32>) -> tensor<16x4xf32> {
    %n = nn.add %s, %t : tensor<16x4xf32>, tensor<16x4xf32>
    nn.yield %n : tensor<16x4xf32>
  }
  %2 = nn.scan steps = 3 over (%t = %long : tensor<3x16x4xf32>) carry (%s = %g : tensor<16x4xf32>) -> tensor<16x4xf32> {
    %n = nn.add %s, %t : tensor<16x4xf32>, tensor<16x4xf32>
    nn.yield %n : tensor<16x4xf32>
  }
  return %0, %1, %read, %2 : tensor<15x4xf32>, tensor<16x4xf32>, tensor<3x16x4xf32>, tensor<16x4xf32>
}

// -----

// A constant matrix of bytes is packed as dot products read it; reductions stay in the step.
// CHECK-LABEL: func.func @bytes(
// CHECK-DAG: %[[K:.*]] = nn.constant dense<{{.*}}> : tensor<1x2x32x4xi8>
// CHECK: nn.scan steps = 3 carry (%[[S:.*]] = %{{.*}} : tensor<2x6xf32>) with (%[[A:.*]] = %[[K]] : tensor<1x2x32x4xi8>)
// CHECK: nn.reduce max %[[S]]
// CHECK: kernel.matmul_packed %{{.*}}, %[[A]] {columns = 6 : i64} : tensor<2x6xui8>, tensor<1x2x32x4xi8>
func.func @bytes(%h: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %k = nn.constant dense<[[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]> : tensor<6x6xi8>
  %0 = nn.scan steps = 3 carry (%s = %h : tensor<2x6xf32>) with (%m = %k : tensor<6x6xi8>) -> tensor<2x6xf32> {
    %z = nn.constant dense<128> : tensor<ui8>
    %1 = nn.reduce max %s axes = [0, 1] : tensor<2x6xf32>
    %2 = nn.quantize %s, %1, %z : tensor<2x6xf32>, tensor<f32>, tensor<ui8>
    %3 = nn.matmul %2, %m {accumulator = i32} : tensor<2x6xui8>, tensor<6x6xi8>
    %4 = nn.cast %3 : tensor<2x6xi32> to tensor<2x6xf32>
    nn.yield %4 : tensor<2x6xf32>
  }
  return %0 : tensor<2x6xf32>
}
