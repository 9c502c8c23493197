// RUN: %sprig-opt %s --sprig-split-products | FileCheck %s

// The gradient of a weight: parts of 512 samples, added up in their order.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[X:.*]]: tensor<1536x40xf32>, %[[G:.*]]: tensor<1536x24xf32>
// CHECK-DAG: %[[L:.*]] = nn.reshape %[[X]] : tensor<1536x40xf32> to tensor<3x512x40xf32>
// CHECK-DAG: %[[R:.*]] = nn.reshape %[[G]] : tensor<1536x24xf32> to tensor<3x512x24xf32>
// CHECK: %[[P:.*]] = nn.matmul %[[L]], %[[R]] {transpose_lhs} : tensor<3x512x40xf32>, tensor<3x512x24xf32>
// CHECK: nn.reduce sum %[[P]] axes = [0] : tensor<3x40x24xf32>
func.func @gradient(%x: tensor<1536x40xf32>, %g: tensor<1536x24xf32>) -> tensor<40x24xf32> {
  %0 = nn.matmul %x, %g {transpose_lhs} : tensor<1536x40xf32>, tensor<1536x24xf32>
  return %0 : tensor<40x24xf32>
}

// One row.
// CHECK-LABEL: func.func @row(
// CHECK-DAG: %[[L:.*]] = nn.reshape %{{.*}} : tensor<1x2048xf32> to tensor<4x1x512xf32>
// CHECK-DAG: %[[R:.*]] = nn.reshape %{{.*}} : tensor<2048x100xf32> to tensor<4x512x100xf32>
// CHECK: nn.matmul %[[L]], %[[R]] : tensor<4x1x512xf32>, tensor<4x512x100xf32>
func.func @row(%x: tensor<1x2048xf32>, %w: tensor<2048x100xf32>) -> tensor<1x100xf32> {
  %0 = nn.matmul %x, %w : tensor<1x2048xf32>, tensor<2048x100xf32>
  return %0 : tensor<1x100xf32>
}

// The most parts that a thread adds up by itself, so that bits stay; of more, the whole.
// CHECK-LABEL: func.func @most(
// CHECK: nn.reduce sum %{{.*}} axes = [0] : tensor<63x40x40xf32>
// CHECK-NOT: nn.reshape
// CHECK: nn.matmul %{{.*}} {transpose_lhs} : tensor<32768x40xf32>, tensor<32768x40xf32>
func.func @most(%a: tensor<32256x40xf32>, %b: tensor<32768x40xf32>) -> (tensor<40x40xf32>, tensor<40x40xf32>) {
  %0 = nn.matmul %a, %a {transpose_lhs} : tensor<32256x40xf32>, tensor<32256x40xf32>
  %1 = nn.matmul %b, %b {transpose_lhs} : tensor<32768x40xf32>, tensor<32768x40xf32>
  return %0, %1 : tensor<40x40xf32>, tensor<40x40xf32>
}

// One chain; parts that do not lie behind each other, or not all of 512; many tiles.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: nn.reshape
// CHECK: return
func.func @whole(%a: tensor<1024x40xf32>, %b: tensor<1536x40xf32>, %c: tensor<40x1536xf32>, %d: tensor<1537x40xf32>, %e: tensor<1536x512xf32>)
    -> (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<512x512xf32>) {
  %0 = nn.matmul %a, %a {transpose_lhs} : tensor<1024x40xf32>, tensor<1024x40xf32>
  %1 = nn.matmul %c, %b : tensor<40x1536xf32>, tensor<1536x40xf32>
  %2 = nn.matmul %d, %d {transpose_lhs} : tensor<1537x40xf32>, tensor<1537x40xf32>
  %3 = nn.matmul %e, %e {transpose_lhs} : tensor<1536x512xf32>, tensor<1536x512xf32>
  return %0, %1, %2, %3 : tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>, tensor<512x512xf32>
}
