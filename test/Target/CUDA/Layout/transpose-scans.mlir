// RUN: %sprig-opt %s --sprig-transpose-scans | FileCheck %s

// Once for both products, in front of the loop; what nothing reads any more goes, and what lies right stays.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %{{.*}}: tensor<3x2x4xf32>, %{{.*}}: tensor<2x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[V:.*]]: tensor<4x4xf32>
// CHECK: %[[T:.*]] = nn.transpose %[[W]] [1, 0] : tensor<4x4xf32>
// CHECK: nn.scan steps = 3 over (%[[X:.*]] = %{{.*}} : tensor<3x2x4xf32>) carry (%[[S:.*]] = %{{.*}} : tensor<2x4xf32>) with (%[[B:.*]] = %[[V]] : tensor<4x4xf32>, %[[A:.*]] = %[[T]] : tensor<4x4xf32>)
// CHECK: %[[P:.*]] = nn.matmul %[[S]], %[[A]] : tensor<2x4xf32>, tensor<4x4xf32>
// CHECK: nn.matmul %[[X]], %[[A]] : tensor<2x4xf32>, tensor<4x4xf32>
// CHECK: nn.matmul %[[P]], %[[B]] : tensor<2x4xf32>, tensor<4x4xf32>
func.func @transposed(%x: tensor<3x2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.scan steps = 3 over (%t = %x : tensor<3x2x4xf32>) carry (%s = %h : tensor<2x4xf32>) with (%a = %w : tensor<4x4xf32>, %b = %v : tensor<4x4xf32>) -> tensor<2x4xf32> {
    %1 = nn.matmul %s, %a {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
    %2 = nn.matmul %t, %a {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
    %3 = nn.matmul %1, %b : tensor<2x4xf32>, tensor<4x4xf32>
    %4 = nn.add %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
    nn.yield %4 : tensor<2x4xf32>
  }
  return %0 : tensor<2x4xf32>
}
