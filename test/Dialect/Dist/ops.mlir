// Every operation of the dist dialect, written and read again.
// RUN: %sprig-opt %s | %sprig-opt | FileCheck %s
// RUN: %sprig-opt %s --mlir-print-op-generic | %sprig-opt | FileCheck %s

// CHECK: dist.mesh @mesh ["data", "model"] [4, 2]
dist.mesh @mesh ["data", "model"] [4, 2]

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<8x3xf32>, %flags: tensor<4xi1>) {
  // CHECK: dist.all_reduce mean %{{.*}} on @mesh ["data"] by "ring" : tensor<8x3xf32>
  %0 = dist.all_reduce mean %x on @mesh ["data"] by "ring" : tensor<8x3xf32>
  // CHECK: dist.all_reduce max %{{.*}} on @mesh ["data", "model"] : tensor<4xi1>
  %1 = dist.all_reduce max %flags on @mesh ["data", "model"] : tensor<4xi1>
  // CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  %2 = dist.reduce_scatter sum %x on @mesh ["model"] : tensor<8x3xf32> -> tensor<4x3xf32>
  // CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<8x3xf32> -> tensor<32x3xf32>
  %3 = dist.all_gather %x on @mesh ["data"] : tensor<8x3xf32> -> tensor<32x3xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<8x3xf32>
  %4 = dist.all_to_all %x on @mesh ["data"] : tensor<8x3xf32>
  // CHECK: dist.broadcast %{{.*}} root 3 on @mesh ["data"] by "tree" : tensor<8x3xf32>
  %5 = dist.broadcast %x root 3 on @mesh ["data"] by "tree" : tensor<8x3xf32>
  // CHECK: dist.reduce product %{{.*}} root 1 on @mesh ["model"] : tensor<8x3xf32>
  %6 = dist.reduce product %x root 1 on @mesh ["model"] : tensor<8x3xf32>
  // CHECK: dist.gather %{{.*}} root 0 on @mesh ["model"] : tensor<8x3xf32> -> tensor<16x3xf32>
  %7 = dist.gather %x root 0 on @mesh ["model"] : tensor<8x3xf32> -> tensor<16x3xf32>
  // CHECK: dist.scatter %{{.*}} root 0 on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
  %8 = dist.scatter %x root 0 on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
  // CHECK: dist.barrier on @mesh ["data"]
  dist.barrier on @mesh ["data"]
  return
}

// CHECK-LABEL: func.func @steps
func.func @steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = dist.steps sum rank 0 apart (%{{.*}}) : tensor<4xf32> -> tensor<4xf32> {
  // CHECK-NEXT: dist.keep [0, 2)
  // CHECK-NEXT: dist.send [0, 2) to 1
  // CHECK-NEXT: dist.combine [2, 4) from 1 lane 1
  // CHECK-NEXT: dist.finish [2, 4)
  // CHECK-NEXT: dist.receive [0, 2) from 1
  %y = dist.steps sum rank 0 apart (%x) : tensor<4xf32> -> tensor<4xf32> {
    dist.keep [0, 2)
    dist.send [0, 2) to 1
    dist.combine [2, 4) from 1 lane 1
    dist.finish [2, 4)
    dist.receive [0, 2) from 1
  }
  // CHECK: dist.steps sum rank 1 () {
  dist.steps sum rank 1 () {
    dist.send [0, 0) to 0
  }
  return %y : tensor<4xf32>
}
