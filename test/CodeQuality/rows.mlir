// RUN: %sprig compile %s --math strict --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --math strict --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

func.func @softmax(%x: tensor<64x128xf32> {nn.name = "x"}) -> (tensor<64x128xf32> {nn.name = "y"}) {
  %0 = nn.softmax %x axis = 1 : tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
func.func @row_sums(%x: tensor<64x128xf32> {nn.name = "x"}) -> (tensor<64xf32> {nn.name = "y"}) {
  %0 = nn.reduce sum %x axes = [1] {keepdims = false} : tensor<64x128xf32>
  return %0 : tensor<64xf32>
}
