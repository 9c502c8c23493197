// Vectors that do not fit the registers lie in whole lines of the stack, wherever the caller's ends.
// RUN: %sprig compile %s --cpu x86-64-v4 --no-cache --emit asm -o - | FileCheck %s
// CHECK: andq $-64, %rsp
// CHECK-NOT: vmovup{{[sd]}} {{.*}}(%rsp), %zmm
// CHECK: vmovap{{[sd]}} {{.*}}(%rsp), %zmm
// CHECK-NOT: vmovup{{[sd]}} {{.*}}(%rsp), %zmm
func.func @main(%x: tensor<4x50x9x9xf32>, %f: tensor<50x20x5x5xf32>) -> tensor<4x20x13x13xf32> {
  %0 = nn.conv_transpose %x, %f {groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>} : tensor<4x50x9x9xf32>, tensor<50x20x5x5xf32>
  return %0 : tensor<4x20x13x13xf32>
}
