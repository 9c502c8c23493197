// Draws of a rank are those of one rank's program for its rows, and it makes no others: indices are counted from the
// rank's first row, in the kernel that takes them.
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=2 --canonicalize | FileCheck %s --check-prefixes=CHECK,LAST
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=0 --canonicalize | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=2 | sprig compile - --compile-to fuse | FileCheck %s --check-prefix=FUSED

dist.mesh @mesh ["data"] [3]

// CHECK-LABEL: func.func @dropout
// CHECK-NOT: 301x
// FIRST-DAG: %[[ROW:.*]] = nn.iota axis = 0 : tensor<101x200xi64>
// LAST-DAG: %[[OWN:.*]] = nn.iota axis = 0 : tensor<100x200xi64>
// LAST-DAG: %[[BEGIN:.*]] = nn.constant dense<201> : tensor<i64>
// LAST: %[[ROW:.*]] = nn.add %[[OWN]], %[[BEGIN]]
// CHECK: %[[PLACE:.*]] = nn.mul %[[ROW]]
// CHECK: %[[INDEX:.*]] = nn.add %[[PLACE]]
// CHECK: nn.philox %[[INDEX]]
// CHECK-NOT: 301x
// FUSED-LABEL: func.func @dropout
// FUSED-NOT: 301x
// FUSED-NEXT: kernel.dispatch
// FUSED-NOT: 301x
// FUSED: nn.philox
// FUSED-NOT: 301x
// FUSED-NOT: kernel.dispatch
func.func @dropout(%x: tensor<301x200xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %k: tensor<i64>, %c: tensor<i64>) -> tensor<301x200xf32> {
  %0 = nn.dropout %x, %k, %c {ratio = 0.5 : f64, stream = 3 : i64} : tensor<301x200xf32>, tensor<i64>, tensor<i64>
  return %0 : tensor<301x200xf32>
}

// Where all is dropped no draw decides, and a rank drops what it has.
// CHECK-LABEL: func.func @all
// FUSED-LABEL: func.func @all
// CHECK-NOT: dist.all_gather
// LAST: return %{{.*}} : tensor<100x200xf32>
// FIRST: return %{{.*}} : tensor<101x200xf32>
func.func @all(%x: tensor<301x200xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %k: tensor<i64>, %c: tensor<i64>) -> (tensor<301x200xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) {
  %0 = nn.dropout %x, %k, %c {ratio = 1.0 : f64, stream = 3 : i64} : tensor<301x200xf32>, tensor<i64>, tensor<i64>
  return %0 : tensor<301x200xf32>
}
