// RUN: sprig-opt %s --sprig-decompose --sprig-fuse | FileCheck %s
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse=target=cuda | FileCheck %s
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse -remark-format=emitRemark --remarks-filter='fuse' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Heads are views of one projection; the result is written as the next product reads it.
// CHECK-LABEL: func.func @heads
// CHECK:         %[[RESULT:.*]] = kernel.dispatch "attention" (%{{.*}} = %arg0 : tensor<2x8x48xf32>) -> tensor<2x8x2x8xf32>
// CHECK:           nn.matmul
// CHECK:           nn.reduce  max
// CHECK:           nn.matmul
// CHECK:           nn.transpose
// CHECK:         nn.reshape %[[RESULT]]
// CHECK-NOT:     kernel.dispatch
// CHECK:         return
// REMARK: one kernel without scores in memory of {{.*}}nn.matmul, nn.div, nn.reduce, nn.sub, nn.exp, nn.reduce, nn.reciprocal, nn.mul, nn.matmul
func.func @heads(%qkv: tensor<2x8x48xf32>) -> tensor<2x8x16xf32> {
  %root = nn.constant dense<2.5> : tensor<f32>
  %0 = nn.slice %qkv starts = [0, 0, 0] sizes = [2, 8, 16] steps = [1, 1, 1] : tensor<2x8x48xf32>
  %1 = nn.slice %qkv starts = [0, 0, 16] sizes = [2, 8, 16] steps = [1, 1, 1] : tensor<2x8x48xf32>
  %2 = nn.slice %qkv starts = [0, 0, 32] sizes = [2, 8, 16] steps = [1, 1, 1] : tensor<2x8x48xf32>
  %3 = nn.reshape %0 : tensor<2x8x16xf32> to tensor<2x8x2x8xf32>
  %4 = nn.reshape %1 : tensor<2x8x16xf32> to tensor<2x8x2x8xf32>
  %5 = nn.reshape %2 : tensor<2x8x16xf32> to tensor<2x8x2x8xf32>
  %q = nn.transpose %3 [0, 2, 1, 3] : tensor<2x8x2x8xf32>
  %k = nn.transpose %4 [0, 2, 3, 1] : tensor<2x8x2x8xf32>
  %v = nn.transpose %5 [0, 2, 1, 3] : tensor<2x8x2x8xf32>
  %6 = nn.matmul %q, %k : tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>
  %7 = nn.div %6, %root : tensor<2x2x8x8xf32>, tensor<f32>
  %8 = nn.softmax %7 axis = 3 : tensor<2x2x8x8xf32>
  %9 = nn.matmul %8, %v : tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>
  %10 = nn.transpose %9 [0, 2, 1, 3] : tensor<2x2x8x8xf32>
  %11 = nn.reshape %10 : tensor<2x8x2x8xf32> to tensor<2x8x16xf32>
  return %11 : tensor<2x8x16xf32>
}

// A factor after a view is applied as the operand is read; a mask is an operand.
// CHECK-LABEL: func.func @scaled_and_masked
// CHECK:         kernel.dispatch "attention"
// CHECK:           nn.transpose
// CHECK:           nn.mul
// CHECK:           nn.matmul
// CHECK:           nn.select
// CHECK-NOT:     kernel.dispatch
func.func @scaled_and_masked(%q: tensor<3x8x4xf32>, %k: tensor<3x8x4xf32>, %v: tensor<3x8x5xf32>,
                             %mask: tensor<8x8xi1>) -> tensor<3x8x5xf32> {
  %factor = nn.constant dense<0.7> : tensor<f32>
  %low = nn.constant dense<-1.0e9> : tensor<f32>
  %0 = nn.transpose %k [0, 2, 1] : tensor<3x8x4xf32>
  %1 = nn.mul %0, %factor : tensor<3x4x8xf32>, tensor<f32>
  %2 = nn.matmul %q, %1 : tensor<3x8x4xf32>, tensor<3x4x8xf32>
  %3 = nn.select %mask, %2, %low : tensor<8x8xi1>, tensor<3x8x8xf32>, tensor<f32>
  %4 = nn.softmax %3 axis = 2 : tensor<3x8x8xf32>
  %5 = nn.matmul %4, %v : tensor<3x8x8xf32>, tensor<3x8x5xf32>
  return %5 : tensor<3x8x5xf32>
}

// Weights that are a result too must be in memory.
// CHECK-LABEL: func.func @weights_are_a_result
// CHECK-NOT:     kernel.dispatch "attention"
// CHECK:         kernel.dispatch "matmul"
// REMARK: the product and the reduction before it stay apart: nn.mul is used elsewhere too
func.func @weights_are_a_result(%q: tensor<8x4xf32>, %k: tensor<4x8xf32>, %v: tensor<8x5xf32>)
    -> (tensor<8x5xf32>, tensor<8x8xf32>) {
  %0 = nn.matmul %q, %k : tensor<8x4xf32>, tensor<4x8xf32>
  %1 = nn.softmax %0 axis = 1 : tensor<8x8xf32>
  %2 = nn.matmul %1, %v : tensor<8x8xf32>, tensor<8x5xf32>
  return %2, %1 : tensor<8x5xf32>, tensor<8x8xf32>
}

// A product after an activation is not attention, and nothing is said of it.
// CHECK-LABEL: func.func @no_reduction
// CHECK-NOT:     kernel.dispatch "attention"
// CHECK:         return
func.func @no_reduction(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.matmul %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = nn.relu %0 : tensor<8x8xf32>
  %2 = nn.matmul %1, %y : tensor<8x8xf32>, tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// What is checked at run time is computed in front, with its check; who reads in place has none.
// CHECK-LABEL: func.func @checked_keys
// CHECK:         kernel.dispatch "in_range"
// CHECK:           nn.in_range
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     nn.in_range
// CHECK:         return
func.func @checked_keys(%q: tensor<2x8x8xf32>, %x: tensor<2x8x24xf32>, %v: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %0 = nn.slice %x starts = [0, 0, 8] sizes = [2, 8, 8] steps = [1, 1, 1] : tensor<2x8x24xf32>
  %k = nn.in_range %0 {low = 0.0, high = 1.0} : tensor<2x8x8xf32>
  %1 = nn.matmul %q, %k {transpose_rhs} : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x8x8xf32>
  %3 = nn.matmul %2, %v : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return %3 : tensor<2x8x8xf32>
}

// CHECK-LABEL: func.func @divided_keys
// CHECK:         kernel.dispatch "div
// CHECK:           nn.div
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     nn.div {{.*}}i32
// CHECK:         return
func.func @divided_keys(%q: tensor<2x8x8xf32>, %x: tensor<2x8x24xi32>, %v: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %seven = nn.constant dense<7> : tensor<i32>
  %0 = nn.slice %x starts = [0, 0, 8] sizes = [2, 8, 8] steps = [1, 1, 1] : tensor<2x8x24xi32>
  %1 = nn.div %seven, %0 : tensor<i32>, tensor<2x8x8xi32>
  %k = nn.cast %1 : tensor<2x8x8xi32> to tensor<2x8x8xf32>
  %2 = nn.matmul %q, %k {transpose_rhs} : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  %3 = nn.softmax %2 axis = 2 : tensor<2x8x8xf32>
  %4 = nn.matmul %3, %v : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return %4 : tensor<2x8x8xf32>
}

// What another operation of the attention reads too is a value in memory: what is computed as a view is none.
// CHECK-LABEL: func.func @keys_are_added
// CHECK:         kernel.dispatch "slice"
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:       nn.slice
// CHECK-NOT:       nn.reshape
// CHECK:         return
func.func @keys_are_added(%q: tensor<2x4x4xf32>, %x: tensor<2x48xf32>, %v: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = nn.slice %x starts = [0, 16] sizes = [2, 16] steps = [1, 1] : tensor<2x48xf32>
  %k = nn.reshape %0 : tensor<2x16xf32> to tensor<2x4x4xf32>
  %1 = nn.matmul %q, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>
  %2 = nn.add %1, %k : tensor<2x4x4xf32>, tensor<2x4x4xf32>
  %3 = nn.softmax %2 axis = 2 : tensor<2x4x4xf32>
  %4 = nn.matmul %3, %v : tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return %4 : tensor<2x4x4xf32>
}

// Values cannot be read through the transpose that keys could be read through.
// CHECK-LABEL: func.func @keys_are_a_view_of_values
// CHECK:         kernel.dispatch "transpose"
// CHECK:         kernel.dispatch "transpose"
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:       nn.transpose
// CHECK:         return
func.func @keys_are_a_view_of_values(%q: tensor<2x4x3x2xf32>, %x: tensor<4x4x4xf32>) -> tensor<2x4x3x4xf32> {
  %v = nn.transpose %x [2, 0, 1] : tensor<4x4x4xf32>
  %0 = nn.reshape %v : tensor<4x4x4xf32> to tensor<2x2x4x4xf32>
  %k = nn.transpose %0 [0, 2, 3, 1] : tensor<2x2x4x4xf32>
  %1 = nn.matmul %q, %k {transpose_rhs} : tensor<2x4x3x2xf32>, tensor<2x4x4x2xf32>
  %2 = nn.softmax %1 axis = 3 : tensor<2x4x3x4xf32>
  %3 = nn.matmul %2, %v : tensor<2x4x3x4xf32>, tensor<4x4x4xf32>
  return %3 : tensor<2x4x3x4xf32>
}

// Scores that are sums of nothing are zero.
// CHECK-LABEL: func.func @no_depth
// CHECK-NOT:     kernel.dispatch "attention"
// CHECK:         return
// REMARK: the product and the reduction before it stay apart: the first product has nothing to sum up
func.func @no_depth(%q: tensor<5x0xf32>, %k: tensor<0x9xf32>, %v: tensor<9x6xf32>) -> tensor<5x6xf32> {
  %0 = nn.matmul %q, %k : tensor<5x0xf32>, tensor<0x9xf32>
  %1 = nn.softmax %0 axis = 1 : tensor<5x9xf32>
  %2 = nn.matmul %1, %v : tensor<5x9xf32>, tensor<9x6xf32>
  return %2 : tensor<5x6xf32>
}
