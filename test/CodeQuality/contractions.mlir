// RUN: %sprig compile %s --math strict --cpu x86-64-v4 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V4
// RUN: %sprig compile %s --math strict --cpu x86-64-v3 --emit asm | %python %S/Inputs/hot-loops.py - | FileCheck %s --check-prefix=V3

func.func @wide(%x: tensor<64x784xf32> {nn.name = "x"}) -> (tensor<64x256xf32> {nn.name = "y"}) {
  %w = nn.constant dense<0.5> : tensor<784x256xf32>
  %0 = nn.matmul %x, %w : tensor<64x784xf32>, tensor<784x256xf32>
  return %0 : tensor<64x256xf32>
}

func.func @row(%x: tensor<1x784xf32> {nn.name = "x"}) -> (tensor<1x256xf32> {nn.name = "y"}) {
  %w = nn.constant dense<0.5> : tensor<784x256xf32>
  %0 = nn.matmul %x, %w : tensor<1x784xf32>, tensor<784x256xf32>
  return %0 : tensor<1x256xf32>
}

func.func @both_at_run_time(%x: tensor<96x64xf32> {nn.name = "x"}, %w: tensor<64x96xf32> {nn.name = "w"}) -> (tensor<96x96xf32> {nn.name = "y"}) {
  %0 = nn.matmul %x, %w : tensor<96x64xf32>, tensor<64x96xf32>
  return %0 : tensor<96x96xf32>
}
