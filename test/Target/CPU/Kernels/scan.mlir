// RUN: sprig-opt %s --sprig-decompose --sprig-unroll-scans --sprig-scans --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v4 | FileCheck %s

// One kernel for all steps. Its products: 4 x 24 columns are six vectors for one row of the batch, one chain over k each;
// the gates read them from scratch memory, where the state has two places that take turns. Nothing is carried in memory
// but through scratch, and the outputs are written once.
// CHECK-LABEL: func.func @lstm
// CHECK: kernel.dispatch "scan"
// CHECK: func.func @kernel_{{[0-9]+}}({{.*}}memref<20x1x24xf32>) -> i32
// CHECK-SAME: sprig.tiles = 1 : i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[COPY:.*]] = %{{.*}}) -> (index)
// CHECK: %{{.*}}:6 = scf.for %{{.*}} iter_args
// CHECK-COUNT-6: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK-COUNT-6: vector.store %{{.*}} : memref<{{[0-9]+}}xf32>, vector<16xf32>
// CHECK-COUNT-2: math.exp
// CHECK: math.tanh
// CHECK: math.exp
// CHECK: math.tanh
// CHECK: %[[NEXT:.*]] = arith.subi %{{.*}}, %[[COPY]]
// CHECK: scf.yield %[[NEXT]] : index
func.func @lstm(%x: tensor<20x1x8xf32>, %w: tensor<96x8xf32>, %r: tensor<96x24xf32>, %h: tensor<1x24xf32>, %c: tensor<1x24xf32>) -> tensor<20x1x24xf32> {
  %y, %last_h, %last_c = nn.lstm %x, %w, %r from %h, %c : tensor<20x1x8xf32>, tensor<96x8xf32>, tensor<96x24xf32>, tensor<1x24xf32>, tensor<1x24xf32>
  return %y : tensor<20x1x24xf32>
}
