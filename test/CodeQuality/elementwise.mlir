// RUN: %sprig compile %s --math strict --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --math strict --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

func.func @tanh(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.tanh %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
func.func @exp(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.exp %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
func.func @sin(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.sin %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
func.func @erf(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.erf %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
func.func @sigmoid_times_x(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.sigmoid %x : tensor<4096xf32>
  %1 = nn.mul %0, %x : tensor<4096xf32>, tensor<4096xf32>
  return %1 : tensor<4096xf32>
}
func.func @log(%x: tensor<4096xf32> {nn.name = "x"}) -> (tensor<4096xf32> {nn.name = "y"}) {
  %0 = nn.log %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
