// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-drop-lone-collectives))" | FileCheck %s
// RUN: %sprig compile %s -o %t.sprig -q

// What is one rank's of several stays so.
// CHECK-LABEL: func.func @of_rank({{.*}} attributes {dist.mesh = @grid, dist.rank = 1 : i64}
// CHECK-NOT: dist.all_reduce
dist.mesh @grid ["data", "model"] [2, 1]
func.func @of_rank(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.rank = 1 : i64} {
  %0 = dist.all_reduce sum %x on @grid ["model"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
