// A whole function is divided where a mesh is given, and stays as it is without one.
// RUN: rm -rf %t && split-file %s %t
// RUN: %sprig-opt %t/whole.mlir -o %t/parsed.mlir
// RUN: %sprig-opt %t/whole.mlir --sprig-phase-shard -o %t/same.mlir && cmp %t/parsed.mlir %t/same.mlir
// RUN: %sprig-opt %t/whole.mlir --sprig-phase-shard='mesh=data=2,model=2 shardings={x=data,-},{w=-,model}' | FileCheck %s --check-prefix=FROZEN
// RUN: %sprig-opt %t/whole.mlir --sprig-phase-shard='mesh=data=2,model=2 shardings={x=data,-},{w=-,model} rank=3 freeze=false' | FileCheck %s --check-prefix=STATE
// RUN: not %sprig-opt %t/whole.mlir --sprig-phase-shard='mesh=data=2 shardings={{v=data,-}}' 2>&1 | FileCheck %s --check-prefix=NAME

// Parameters are divided, and each rank's part is a constant of its program.
// FROZEN: func.func @main_rank0(%{{.*}}: tensor<3x4xf32> {dist.piece = array<i64: 5, 4, 0, 0>, nn.name = "x"}) -> (tensor<3x2xf32> {dist.piece = array<i64: 5, 4, 0, 0>})
// FROZEN: nn.constant {{.*}}tensor<4x2xf32>
// FROZEN: func.func @main_rank3(%{{.*}}: tensor<2x4xf32>
// FROZEN-NOT: nn.param
// STATE-NOT: rank0
// STATE: func.func @main_rank3
// STATE: nn.get_param @w_rank3 : tensor<4x2xf32>
// STATE: nn.param @w_rank3
// NAME: error: --shard v=data,-: there is no 'v'; there are x, output0, w

// Before it, statements may stand; behind it none is left.
// RUN: %sprig-opt %t/stated.mlir --sprig-phase-differentiate | FileCheck %s --check-prefix=STATED
// RUN: not %sprig-opt %t/stated.mlir --sprig-phase-shard 2>&1 | FileCheck %s --check-prefix=LEFT
// STATED: dist.shard
// LEFT: error: 'dist.shard' op is left after phase 'shard', which does not allow it
// RUN: not %sprig compile %t/stated.mlir -o %t/x.sprig 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: stated.mlir:3:8: 'dist.shard' op states a sharding, and what is compiled is the program of one rank

// Collectives of a program that has some are joined in front of remat, and those of one rank are none.
// RUN: %sprig-opt %t/ranks.mlir --sprig-phase-differentiate | FileCheck %s --check-prefix=APART
// RUN: %sprig-opt %t/ranks.mlir --sprig-phase-shard | FileCheck %s --check-prefix=JOINED
// APART-COUNT-3: dist.all_reduce
// JOINED: dist.all_reduce sum %{{.*}}, %{{.*}} on @mesh ["data"]
// JOINED-NOT: dist.all_reduce
// RUN: not %sprig-opt %t/ranks.mlir --sprig-phase-shard='mesh=data=2 shardings={x=data}' 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'dist.all_reduce' op is of the program of one rank, which is not divided again

// Phase by phase it gives the same; what comes too late is refused.
// RUN: %sprig compile %t/whole.mlir --mesh data=2 --shard x=data,- --shard w=-,- --cpu x86-64-v3 -q -o %t/once.sprig
// RUN: %sprig compile %t/whole.mlir --mesh data=2 --shard x=data,- --shard w=-,- --compile-to differentiate -o %t/whole2.mlir
// RUN: FileCheck %s --check-prefix=WHOLE < %t/whole2.mlir
// WHOLE: nn.get_param @w : tensor<4x4xf32>
// RUN: %sprig compile %t/whole2.mlir --mesh data=2 --shard x=data,- --shard w=-,- --compile-from shard --compile-to shard -o %t/parts.mlir
// RUN: %sprig compile %t/parts.mlir --compile-from remat --cpu x86-64-v3 -q -o %t/thrice.sprig
// RUN: %sprig run %t/once.sprig --random-inputs 1 --output-dir %t/once -q && %sprig run %t/thrice.sprig --random-inputs 1 --output-dir %t/thrice -q
// RUN: diff -r %t/once %t/thrice
// RUN: sh -c "%sprig compile %t/parts.mlir --mesh data=2 --shard x=data,- --compile-from remat -o %t/x.sprig 2>&1; test \$? = 2" | FileCheck %s --check-prefix=LATE
// LATE: error: --mesh data=2: phase 'remat' comes after 'shard', where ranks get their parts

//--- whole.mlir
func.func @main(%x: tensor<5x4xf32> {nn.name = "x"}) -> tensor<5x4xf32> {
  %w = nn.get_param @w : tensor<4x4xf32>
  %0 = nn.matmul %x, %w : tensor<5x4xf32>, tensor<4x4xf32>
  return %0 : tensor<5x4xf32>
}
nn.param @w = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 8.0, 7.0, 6.0], [5.0, 4.0, 3.0, 2.0]]> : tensor<4x4xf32>

//--- stated.mlir
dist.mesh @mesh ["data"] [2]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dist.shard %x : tensor<4xf32> to #dist.sharding<@mesh, [["data"]]>
  return %0 : tensor<4xf32>
}

//--- ranks.mlir
dist.mesh @mesh ["data", "model"] [2, 1]
func.func @main(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = nn.sin %x : tensor<4xf32>
  %3 = dist.all_reduce sum %2 on @mesh ["data"] : tensor<4xf32>
  %4 = dist.all_reduce sum %2 on @mesh ["model"] : tensor<4xf32>
  return %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
